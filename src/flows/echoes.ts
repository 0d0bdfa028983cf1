import { operations, type OperationName } from '../contract/index.js';
import type { Echo, Operation } from '../contract/operation.js';
import { UnsafeAmountError } from '../money.js';
import { UNREADABLE } from '../protocol/messages.js';
import { provesPayment } from '../protocol/statuses.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { readAddress, readHash } from '../readers/hash.js';
import { readLightningInvoice } from '../readers/lightning-invoice.js';
import { factOf, memberAt, memberOf } from './callback.js';
import type { SubmissionDefinition } from './flow.js';
import { assetFacts, factsIn, statusIn } from './record-facts.js';

/*
 * All that a request fixed and its answer names is compared, for every operation: a service that answers a repeated
 * reference with its first result accepts what it never executes. The contract says which members are the same fact.
 */

/** The facts in which what the service has under our reference differs from what we asked for. */
export interface OtherRecord {
  readonly differs: readonly string[];
  readonly ours: Facts;
  readonly theirs: Facts;
}

type Facts = Readonly<Record<string, string>>;

/** What a request fixed, by the names of its members. What cannot be read is not compared. */
export function fixedBy(operation: OperationName, request: unknown): Facts {
  const facts = Object.entries(echoesOf(operation)).map(([name, echo]) => {
    const fact = read(echo, memberAt(request, name) ?? hashOfInvoice(request, echo));
    return [name, fact === UNREADABLE ? undefined : fact];
  });
  return factsIn(Object.fromEntries(facts));
}

/**
 * What the request of a flow's step fixes; nothing if there can be no request, which is then never sent.
 *
 * @param submission undefined: the flow's input is its body
 */
export function fixedIn(
  operation: OperationName,
  submission: Pick<SubmissionDefinition<unknown>, 'request'> | undefined,
  input: unknown,
): Facts {
  try {
    return fixedBy(operation, submission === undefined ? input : submission.request(input, { callbackUrl: '' }));
  } catch (error) {
    if (error instanceof UnsafeAmountError) return {};
    throw error;
  }
}

/** In what the answer names something else than the request fixed; undefined: in nothing. */
export function otherThan(operation: string, fixed: Facts, answer: unknown): OtherRecord | undefined {
  const echoes = Object.entries(echoesOf(operation as OperationName));
  const theirs = factsIn(Object.fromEntries(echoes.map(([name, echo]) => [name, namedIn(answer, echo)])));
  const ours = factsIn(Object.fromEntries(echoes.map(([name, echo]) => [name, read(echo, fixed[name])])));
  const differs = Object.keys(theirs).filter((name) => ours[name] !== undefined && ours[name] !== theirs[name]);
  if (differs.length === 0 || isOfTheInvoice(operation, answer)) return undefined;
  const pick = (facts: Facts) => factsIn(Object.fromEntries(differs.map((name) => [name, facts[name]])));
  return { differs, ours: pick(ours), theirs: pick(theirs) };
}

/** Of a payment request over Lightning, which has its payment's hash in it. */
function hashOfInvoice(request: unknown, { as }: Echo): string | undefined {
  const invoice = as === 'hash' ? readLightningInvoice(memberAt(request, 'crypto_payment.bolt11')) : undefined;
  return typeof invoice === 'object' ? invoice.paymentHash : undefined;
}

const echoesOf = (operation: OperationName): Readonly<Record<string, Echo>> =>
  (operations[operation] as Operation).echoes ?? {};

function namedIn(answer: unknown, { member, as }: Echo): string | undefined {
  // A word that is in no vocabulary proves neither ours nor another one.
  if (as === 'asset') {
    const word = assetFacts(answer)[member];
    return word === UNREADABLE ? undefined : word;
  }
  const said = memberAt(answer, member);
  // The contract keeps a member that it could not read as undefined.
  const isUnread = said === undefined && typeof answer === 'object' && answer !== null && Object.hasOwn(answer, member);
  return isUnread ? UNREADABLE : read({ member, as }, said);
}

/** One spelling of each fact; undefined if it is not given, and `UNREADABLE` if it is, and cannot be read. */
const read = ({ as }: Echo, said: unknown): string | undefined => factOf(said, READ[as]);

const READ: Readonly<Record<Echo['as'], (said: unknown) => string | undefined>> = {
  amount: readAmount,
  currency: readCode,
  asset: readCode,
  address: readAddress,
  hash: (said) => {
    const hash = readHash(said);
    return hash !== undefined && /^[0-9a-f]{32,128}$/.test(hash) ? hash : undefined;
  },
};

/** Before an invoice is paid, the amounts beside its payment may be its own, which another currency pays. */
function isOfTheInvoice(operation: string, answer: unknown): boolean {
  if (operation !== 'payInvoice' || provesPayment(statusIn(memberOf(answer, 'status')))) return false;
  const [paid, invoiced] = [answer, memberOf(answer, 'invoice')].map((record) => ({
    amount: readAmount(memberOf(record, 'amount')),
    currency: readCode(memberOf(record, 'currency')),
  }));
  return paid?.amount !== undefined && paid.amount === invoiced?.amount && paid.currency === invoiced.currency;
}
