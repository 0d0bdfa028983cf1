import { Big } from 'big.js';
import type { Adversary } from '../deliveries/adversary.js';
import type { Answer, Executions } from '../ledger.js';
import { insufficientFunds, type Refusal, transactionFailed } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import type { LiveSettings } from '../settings.js';
import type { Carrier } from './carrier.js';
import { scriptOf, COMPLETED } from './lifecycle.js';
import type { Transaction, Transactions } from './transactions.js';
import type { Kind } from './kind.js';

/** A request that was let in, as far as all kinds are alike. Inside `database.write`. */
export type Admit = <B>(
  kind: Kind<B>,
  request: {
    readonly body: B;
    /** The caller's own; a new one if the interface allows leaving it out. */
    readonly reference: string | undefined;
    /** Why this request is refused, apart from its ending. */
    readonly refusal?: () => Refusal | undefined;
    readonly answer: (transaction: Transaction<B>) => Answer;
  },
) => Answer | Refusal;

/** Repeat, refusal, books, record, first step: the way of every money operation. */
export function createAdmit(deps: {
  executions: Executions;
  scenarios: Scenarios;
  transactions: Transactions;
  carrier: Carrier;
  adversary: Adversary;
  settings: LiveSettings;
  createId: () => string;
}): Admit {
  const { executions, scenarios, transactions, carrier, adversary, settings, createId } = deps;
  return (kind, { body, reference: given, refusal, answer }) => {
    const { operation, lifecycle } = kind;
    const reference = given ?? `REF-${createId()}`;
    const repeated = executions.answerToRepeat(operation, reference);
    if (repeated !== undefined) return repeated;

    const { amount, currency } = kind.amount(body);
    const parties = kind.parties(body);
    const ending = chooseEnding({ scenarios, choices: lifecycle }, { operation, reference, amount, parties });
    const { refuses } = scriptOf(lifecycle, ending);
    if (refuses !== undefined) return refuses === 'insufficient-funds' ? insufficientFunds() : transactionFailed();
    const refused = refusal?.();
    if (refused !== undefined) return refused;

    const executionId = executions.record({ operation, reference, amount: String(amount), currency, body });
    const transaction = transactions.add({
      id: `${kind.idPrefix}-${createId()}`,
      operation,
      reference,
      status: lifecycle.initial,
      ending,
      body,
      figures: kind.figures(body, settings.current().rateDriftBps),
      executionId,
    }) as Transaction<typeof body>;
    carrier.begin(transaction);
    // The answer reports the first status, whatever an early callback may have reported.
    const first = executions.answered(executionId, answer(transaction));
    const early = adversary.isEarly(reference) ? carrier.untilAnswered(transaction.id) : [];
    return { ...first, early };
  };
}

/** The endings to choose from, and the digits that choose them. */
export interface Choices {
  readonly endings: Readonly<Record<string, unknown>>;
  readonly magic: Readonly<Record<string, string>>;
}

/** `+254700000013` and the account `900000013` choose what the decimals `.13` choose. */
const MAGIC_DIGITS = /0000(\d\d)$/;

/** The ending of a transaction: by the scenario of its reference, else by its amount, else by a party's number. */
export function chooseEnding(
  deps: { readonly scenarios: Scenarios; readonly choices: Choices },
  request: {
    readonly operation: string;
    readonly reference: string;
    readonly amount: number;
    readonly parties: readonly (string | undefined)[];
  },
): string {
  const { endings, magic } = deps.choices;
  const scenario = deps.scenarios.get(request.reference, request.operation)?.ending;
  if (scenario !== undefined && Object.hasOwn(endings, scenario)) return scenario;
  const byAmount = magic[magicDecimals(request.amount) ?? ''];
  if (byAmount !== undefined) return byAmount;
  for (const party of request.parties) {
    const digits = MAGIC_DIGITS.exec((party ?? '').replaceAll(/\D/g, ''))?.[1];
    const byNumber = digits === undefined ? undefined : magic[`.${digits}`];
    if (byNumber !== undefined) return byNumber;
  }
  return COMPLETED;
}

/** `.13` of 1000.13; undefined for an amount that has more or fewer than two decimals. */
function magicDecimals(amount: string | number): string | undefined {
  return /(\.\d\d)$/.exec(new Big(amount).toFixed())?.[1];
}
