import { operations, type OperationName } from '../contract/index.js';
import type { Operation, RequestedBy } from '../contract/operation.js';
import { readHash } from '../readers/hash.js';
import { MAIN_NETWORK, readLightningInvoice, type LightningInvoice } from '../readers/lightning-invoice.js';
import { readTime } from '../readers/time.js';
import { memberAt } from './callback.js';

/*
 * What a request names of a payment over Lightning: by the payment request itself, by its hash, or by the time at which
 * it expires. The contract says in which members.
 */

/** Of the payment that this request makes or waits for, 64 hexadecimal digits; undefined: none over Lightning. */
export function paymentHashIn(operation: string, request: unknown): string | undefined {
  const [invoice] = invoicesIn(operation, request);
  if (invoice !== undefined) return invoice.paymentHash;
  // On a chain it is the hash of a transaction, or whatever its caller calls so.
  if (memberAt(request, 'chain') !== 'LIGHTNING') return undefined;
  const [hash] = given(operation, request, 'hash').map(hashIn);
  return hash;
}

/** The first of the times at which what it names can no longer be paid, ms since 1970; undefined: nothing of it expires. */
export function expiryIn(operation: string, request: unknown): number | undefined {
  const times = [
    ...invoicesIn(operation, request).map(({ expiresAtMs }) => expiresAtMs),
    // By one that cannot be read, nothing is sent.
    ...given(operation, request, 'expiry').map((text) => readTime(text) ?? 0),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Its coins are worth nothing. */
export const isOfTestNetwork = (operation: string, request: unknown): boolean =>
  invoicesIn(operation, request).some(({ network }) => network !== MAIN_NETWORK);

/** One spelling of a payment hash; undefined for what is none. */
export function hashIn(text: string): string | undefined {
  const hash = readHash(text);
  return hash !== undefined && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}

/** Those that can be read. */
const invoicesIn = (operation: string, request: unknown): readonly LightningInvoice[] =>
  given(operation, request, 'invoice')
    .map(readLightningInvoice)
    .filter((read) => typeof read === 'object');

function given(operation: string, request: unknown, as: RequestedBy): readonly string[] {
  const members = Object.entries((operations[operation as OperationName] as Operation).paymentRequest ?? {});
  return members
    .filter(([, by]) => by === as)
    .map(([member]) => memberAt(request, member))
    .filter((said) => typeof said === 'string');
}
