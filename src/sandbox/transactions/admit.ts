import type { Adversary } from '../deliveries/adversary.js';
import type { Answer, Executions } from '../ledger/executions.js';
import { insufficientFunds, type Refusal, transactionFailed } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import type { LiveSettings } from '../settings.js';
import type { Carrier } from './carrier.js';
import { chooseEnding } from './choose-ending.js';
import type { Kind } from './kind.js';
import { scriptOf } from './lifecycle.js';
import type { Transaction } from './transaction.js';
import type { Transactions } from './transactions.js';

/** A request that was let in, as far as all kinds are alike. Inside `database.write`. */
export type Admit = <B>(
  kind: Kind<B>,
  request: {
    readonly body: B;
    /** The caller's own; a new one where the interface lets it be left out. */
    readonly reference: string | undefined;
    /** Why this request is refused, beyond what its ending says. */
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
    // The answer tells the first status, whatever an early callback may have told.
    const first = executions.answered(executionId, answer(transaction));
    const early = adversary.isEarly(reference) ? carrier.untilTold(transaction.id) : [];
    return { ...first, early };
  };
}
