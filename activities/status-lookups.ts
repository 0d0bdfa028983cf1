import type { ServiceClient } from '../src/client/index.js';
import type { Facts } from './outcomes.js';

/** How one money operation is looked up, and which facts of the record can be compared with ours. */
export interface StatusLookup {
  read(service: ServiceClient, reference: string): Promise<unknown>;
  facts(record: unknown): Facts;
}

/** The status lookups of the contract. An operation that is missing here has none: only events or a person can tell. */
export const statusLookups: Readonly<Record<string, StatusLookup | undefined>> = {
  sendCrypto: {
    read: (service, reference) => service.getCryptoSend(reference),
    facts: (record) => textMembers(record, { cryptoAmount: 'cryptoAmount', receiverAddress: 'cryptoWallet' }),
  },
};

function textMembers(record: unknown, members: Readonly<Record<string, string>>): Facts {
  const values = (typeof record === 'object' && record !== null ? record : {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(members).flatMap(([fact, member]) => {
      const value = values[member];
      return typeof value === 'string' && value !== '' ? [[fact, value]] : [];
    }),
  );
}
