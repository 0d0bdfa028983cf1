import {
  type ServiceClient,
  RejectedError,
  ContractBrokenError,
  NotSentError,
  RateLimitedError,
  ServiceUnavailableError,
  TurnedAwayError,
} from '../src/service-client/index.js';
import { cryptoSendFacts, cryptoSendFlow } from '../src/flows/crypto-send.js';
import type { StatusSource } from '../src/flows/flow.js';
import { offrampFacts, offrampFlow } from '../src/flows/offramp.js';
import { invoiceFacts, invoicePaymentFlow, isOfPayment, paidFacts } from '../src/flows/invoice-payment.js';
import { onrampFacts, onrampFlow, withMobileMoney } from '../src/flows/onramp.js';
import type { OperationData } from '../src/contract/index.js';
import type { Invoice } from '../src/contract/invoice.js';
import { bankWithdrawalFlow, withdrawalFacts } from '../src/flows/bank-withdrawal.js';
import { bridgeRecordFacts, bridgeTransferFlow } from '../src/flows/bridge-transfer.js';
import { cardDepositFlow, cardFacts } from '../src/flows/card-deposit.js';
import { namesPayment } from '../src/flows/record-facts.js';
import { liveLookupOf, type LiveOperation, type Profile } from '../src/protocol/live-operations.js';
import { MISSES } from '../src/protocol/attempt.js';
import type { LookupSays } from '../src/protocol/decisions.js';
import { UNREADABLE } from '../src/protocol/messages.js';
import type { ActivityDeps } from './deps.js';
import type { Facts, LookupAnswer, PaidReading } from './types.js';
import { readFailure } from './failures.js';
import { untilNextMiss } from './timing.js';

/** How one money operation is looked up, and which facts of the record can be compared with ours. */
export interface StatusLookup {
  read(service: ServiceClient, reference: string): Promise<unknown>;
  /** `UNREADABLE` for one that is there and cannot be read: see `whyIncomparable`. */
  facts(record: unknown): Facts;
  /** How the kind's definition reads the record's status. Absent if the record has none. */
  readonly status?: Pick<StatusSource, 'read'> | undefined;
  /**
   * It may not know a record, or know it by another reference than ours, so that "not found" says no more than no lookup
   * at all. @default false
   */
  readonly missProvesNothing?: true;
  /**
   * False for a record that may be older than the POST that is looked up, or of any other: it proves nothing about the
   * POST. @default always true
   *
   * @param saidToExist the service itself answered that it knows the reference: its record cannot be an older one
   */
  proves?(record: unknown, saidToExist: boolean): boolean;
}

/** The status lookups of the contract. If an operation is not listed, only events or a person can show its outcome. */
export const statusLookups: Readonly<Record<string, StatusLookup | undefined>> = {
  sendCrypto: {
    read: (service, reference) => service.getCryptoSend(reference),
    facts: cryptoSendFacts,
    status: cryptoSendFlow.status,
  },
  createOnramp: { read: readOnramp, facts: onrampFacts, status: onrampFlow.status },
  createOfframp: {
    read: (service, reference) => service.getOfframp(reference),
    facts: offrampFacts,
    status: offrampFlow.status,
  },
  createInvoice: {
    read: (service, reference) => service.getInvoice(reference),
    facts: invoiceFacts,
    proves: (record, saidToExist) =>
      saidToExist || Boolean((record as Invoice).invoice?.amount && (record as Invoice).invoice?.currency),
  },
  payInvoice: {
    read: (service, reference) => service.getInvoicePayment(reference),
    facts: paidFacts,
    status: invoicePaymentFlow.status,
    proves: (record, saidToExist) => saidToExist || isOfPayment(record),
  },
};

/**
 * It becomes the answer of its POST, and is kept: what the contract does not show could be a card. A member that is missing
 * stays so: one that is there as undefined could not be read.
 */
const withoutOthers = (card: OperationData<'getCardDeposit'>) =>
  Object.fromEntries(CARD_MEMBERS.flatMap((name) => (name in card ? [[name, card[name]]] : [])));
const CARD_MEMBERS = [
  'id',
  'reference_id',
  'reference_number',
  'customer_key',
  'status',
  'amount',
  'currency',
] as const;

/** Those that only the live service has. */
const LIVE: Readonly<Partial<Record<LiveOperation, StatusLookup>>> = {
  getBankWithdrawal: {
    read: (service, reference) => service.getBankWithdrawal(reference),
    facts: withdrawalFacts,
    proves: (record) => namesPayment(withdrawalFacts(record)),
    status: bankWithdrawalFlow.liveStatus,
    missProvesNothing: true,
  },
  getCardDeposit: {
    read: (service, reference) => service.getCardDeposit(reference).then(withoutOthers),
    facts: cardFacts,
    proves: (record) => namesPayment(cardFacts(record)),
    status: cardDepositFlow.liveStatus,
    missProvesNothing: true,
  },
  getBridgeDeposit: {
    read: (service, reference) => service.getBridgeDeposit(reference),
    facts: bridgeRecordFacts,
    proves: (record) => namesPayment(bridgeRecordFacts(record)),
    status: bridgeTransferFlow.liveStatus,
    missProvesNothing: true,
  },
};

/** Undefined: only events or a person can show the outcome of the operation. */
export function statusLookupOf(profile: Profile, operation: string): StatusLookup | undefined {
  const live = liveLookupOf(profile, operation);
  return statusLookups[operation] ?? (live === undefined ? undefined : LIVE[live]);
}

export function proves(lookup: StatusLookup, record: unknown, saidToExist = false): boolean {
  return lookup.proves?.(record, saidToExist) ?? true;
}

/**
 * Whether the service has a record of what was sent under a reference, and its status, as its kind reads it. There is
 * none if the service says so several times in a row.
 */
export async function lookUpRecord(
  deps: Pick<ActivityDeps, 'service' | 'clock' | 'live'> & { readonly timeScale: number },
  operation: string,
  reference: string,
): Promise<{ readonly says: LookupSays; readonly status?: string }> {
  const lookup = statusLookupOf(deps, operation);
  if (lookup === undefined) return { says: 'no-lookup' };
  const ask = () => asking(() => lookup.read(deps.service, reference)).catch(() => ({ says: 'cannot-tell' }) as const);
  let asked = await ask();
  for (let misses = 1; asked.says === 'absent' && misses < MISSES; misses += 1) {
    await untilNextMiss(deps, deps.timeScale);
    asked = await ask();
  }
  if (asked.says !== 'shown') return { says: missOf(lookup, asked.says) };
  if (!proves(lookup, asked.record)) return { says: 'proves-nothing' };
  const status = lookup.status?.read(asked.record).status ?? null;
  return { says: 'shown', ...(status === null ? {} : { status }) };
}

export const missOf = ({ missProvesNothing }: Pick<StatusLookup, 'missProvesNothing'>, says: LookupSays): LookupSays =>
  says === 'absent' && missProvesNothing === true ? 'no-lookup' : says;

/**
 * What a reading of an invoice's payment says, as the lookup of a POST says it. A record of an unpaid invoice is there
 * before any payment, so that it shows nothing of ours: only "not found" is an absence.
 */
export function lookupOfPaid({ says, reading }: PaidReading): LookupSays {
  if (says === 'not-paid') return reading === undefined ? 'absent' : 'proves-nothing';
  return says === 'paid' ? 'shown' : says;
}

/** Why a record cannot be compared with ours: one of these facts of it cannot be read. Undefined if it can. */
export function whyIncomparable(facts: Facts, compared: readonly string[] = Object.keys(facts)): string | undefined {
  const unreadable = compared.filter((name) => facts[name] === UNREADABLE);
  return unreadable.length === 0 ? undefined : `${unreadable.join(' and ')} of the service's record cannot be read`;
}

/**
 * The two legs in the shape of the lost answer (`OnrampCreation`), without the redirect URL, which no lookup shows. The
 * service may know the payment before it knows of a transaction on a chain; the payment alone shows that it was
 * executed.
 */
async function readOnramp(service: ServiceClient, referenceId: string): Promise<unknown> {
  const onChain = await service.getOnChainDeposit(referenceId).catch((error: unknown) => {
    if (error instanceof RejectedError && error.isNotFound) return undefined;
    throw error;
  });
  if (onChain?.mobile_money != null) return { referenceId, ...onChain };
  const mobileMoney = await service.getMobileMoneyDeposit(referenceId).catch((error: unknown) => {
    // If it is refused, the first one stands.
    if (error instanceof RejectedError && onChain !== undefined) return undefined;
    throw error;
  });
  return { referenceId, ...withMobileMoney(onChain, mobileMoney) };
}

/**
 * Asks the service. Only its own "not found" is an absence: a refusal, an answer that the service did not write, an
 * error and an unreadable body show nothing. Throws errors that no repetition can repair, and failures that are not the
 * service's.
 */
export async function asking<T>(lookup: () => Promise<T>): Promise<LookupAnswer<T>> {
  try {
    return { says: 'shown', record: await lookup() };
  } catch (error) {
    if (error instanceof RejectedError) {
      if (error.isNotFound) return { says: 'absent' };
      return { says: 'cannot-tell', why: `the status lookup was refused (${error.httpStatus})`, refused: true };
    }
    if (!isOfTheService(error)) throw readFailure(error);
    const afterMs = error instanceof RateLimitedError ? error.retryAfterMs : undefined;
    return { says: 'cannot-tell', why: error.message, refused: false, ...(afterMs === undefined ? {} : { afterMs }) };
  }
}

const isOfTheService = (error: unknown): error is Error =>
  [NotSentError, TurnedAwayError, ServiceUnavailableError, ContractBrokenError].some((kind) => error instanceof kind);
