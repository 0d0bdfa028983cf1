import type { ServiceClient } from '../src/client/index.js';
import { RejectedError } from '../src/client/index.js';
import { cryptoSendFacts } from '../src/flows/crypto-send.js';
import { offrampFacts } from '../src/flows/offramp-record.js';
import { paidFacts } from '../src/flows/invoice-payment.js';
import { onrampFacts } from '../src/flows/onramp-legs.js';
import type { Invoice, InvoicePayment } from '../src/contract/invoice.js';
import { tellsOfPayment } from '../src/flows/meanings.js';
import type { Facts } from './outcomes.js';

/** How one money operation is looked up, and which facts of the record can be compared with ours. */
export interface StatusLookup {
  read(service: ServiceClient, reference: string): Promise<unknown>;
  facts(record: unknown): Facts;
  /** False for a record that may be older than the POST that is looked up: it tells nothing of it. @default always true */
  proves?(record: unknown): boolean;
}

/** The status lookups of the contract. An operation that is missing here has none: only events or a person can tell. */
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
    proves: (record) => tellsOfPayment((record as InvoicePayment).status),
  },
};

export function proves(lookup: StatusLookup, record: unknown): boolean {
  return lookup.proves?.(record) ?? true;
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
