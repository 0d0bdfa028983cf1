import {
  type ServiceClient,
  RejectedError,
  ContractBrokenError,
  NotSentError,
  RateLimitedError,
  ServiceUnavailableError,
} from '../src/service-client/index.js';
import { cryptoSendFacts } from '../src/flows/crypto-send.js';
import { offrampFacts } from '../src/flows/offramp.js';
import { paidFacts } from '../src/flows/invoice-payment.js';
import { onrampFacts } from '../src/flows/onramp.js';
import type { Invoice, InvoicePayment } from '../src/contract/invoice.js';
import type { LookupSays } from '../src/protocol/decisions.js';
import { provesPayment } from '../src/protocol/statuses.js';
import type { Facts, Asked } from './types.js';
import { readFailure } from './failures.js';

/** How one money operation is looked up, and which facts of the record can be compared with ours. */
export interface StatusLookup {
  read(service: ServiceClient, reference: string): Promise<unknown>;
  facts(record: unknown): Facts;
  /** False for a record that may be older than the POST that is looked up: it reports nothing of it. @default always true */
  proves?(record: unknown): boolean;
}

/** The status lookups of the contract. An operation that is missing here has none: only events or a person can report. */
export const statusLookups: Readonly<Record<string, StatusLookup | undefined>> = {
  sendCrypto: {
    read: (service, reference) => service.getCryptoSend(reference),
    facts: cryptoSendFacts,
  },
  createOnramp: { read: readOnramp, facts: onrampFacts },
  createOfframp: { read: (service, reference) => service.getOfframp(reference), facts: offrampFacts },
  createInvoice: {
    read: (service, reference) => service.getInvoice(reference),
    // The outer amount and currency show nonsense on the wire.
    facts: (record) => textMembers((record as Invoice).invoice, { amount: 'amount', currency: 'currency' }),
    proves: (record) => Boolean((record as Invoice).invoice?.amount && (record as Invoice).invoice?.currency),
  },
  payInvoice: {
    read: (service, reference) => service.getInvoicePayment(reference),
    facts: paidFacts,
    // The record is there before any payment, and is PENDING then.
    proves: (record) => provesPayment((record as InvoicePayment).status),
  },
};

export function proves(lookup: StatusLookup, record: unknown): boolean {
  return lookup.proves?.(record) ?? true;
}

/** Whether the service has a record of what was sent under a reference, and the status in it. Asks once. */
export async function lookUpRecord(
  service: ServiceClient,
  operation: string,
  reference: string,
): Promise<{ readonly says: LookupSays; readonly status?: string }> {
  const lookup = statusLookups[operation];
  if (lookup === undefined) return { says: 'no-lookup' };
  const asked = await asking(() => lookup.read(service, reference)).catch(() => ({ says: 'cannot-tell' }) as const);
  if (asked.says !== 'shown') return { says: asked.says };
  if (!proves(lookup, asked.record)) return { says: 'no-lookup' };
  const { status } = asked.record as { readonly status?: unknown };
  return { says: 'shown', ...(typeof status === 'string' ? { status } : {}) };
}

function textMembers(record: unknown, members: Readonly<Record<string, string>>): Facts {
  const values = (typeof record === 'object' && record !== null ? record : {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(members).flatMap(([fact, member]) => {
      const value = values[member];
      return typeof value === 'string' && value !== '' ? [[fact, value]] : [];
    }),
  );
}

/**
 * The two legs in the shape of the lost answer (`OnrampCreation`): what can be known of it. The redirect URL cannot. The
 * service may know the payment before it knows of anything on a chain, and what it knows was executed.
 */
async function readOnramp(service: ServiceClient, referenceId: string): Promise<unknown> {
  try {
    return { referenceId, ...(await service.getOnChainDeposit(referenceId)) };
  } catch (error) {
    if (!(error instanceof RejectedError && error.isNotFound)) throw error;
    return { referenceId, mobile_money: await service.getMobileMoneyDeposit(referenceId) };
  }
}

/**
 * Asks the service. Only its own "not found" is an absence: a refusal, a 404 that no service wrote, an error and an
 * unreadable body report nothing. Throws what no repetition could mend, and failures that are not the service's.
 */
export async function asking<T>(lookup: () => Promise<T>): Promise<Asked<T>> {
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
  error instanceof NotSentError || error instanceof ServiceUnavailableError || error instanceof ContractBrokenError;
