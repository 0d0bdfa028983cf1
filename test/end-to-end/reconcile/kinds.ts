import { moneyOf, type Post, referenceMember } from '../../harness/kind.js';
import { KINDS } from '../../harness/kinds.js';
import type { ServiceRecord } from './witnesses.js';

const OF_KIND = new Map<string, (typeof KINDS)[number]>(KINDS.map((one) => [one.kind, one]));

/** For each kind: the operation whose execution is the money movement; null if nothing moves. */
export const MONEY: Readonly<Record<string, string | null>> = Object.fromEntries(
  KINDS.map((one) => [one.kind, moneyOf(one)]),
);

interface OrderedPost extends Post {
  readonly operation: string;
  readonly kind: string;
}

const POSTS: readonly OrderedPost[] = KINDS.flatMap(({ kind, posts }) =>
  Object.entries(posts).map(([operation, post]) => ({ ...post, operation, kind })),
);

/**
 * Paths of money POSTs in the service's own interface: used by us at the service, and by integrations at the gateway.
 */
export const POST_OF_PATH: Readonly<Record<string, OrderedPost>> = Object.fromEntries(
  POSTS.map((post) => [post.path, post]),
);

/** By its operation. */
export const POST_OF: Readonly<Record<string, OrderedPost>> = Object.fromEntries(
  POSTS.map((post) => [post.operation, post]),
);

/** Whether the service has a lookup for executions of the operation. */
export const canBeLookedUp = (operation: string): boolean =>
  OF_KIND.get(POST_OF[operation]?.kind ?? '')?.hasLookup === true;

/** What the input of the kind calls its reference. */
export function referenceIn(kind: string): string {
  const found = OF_KIND.get(kind);
  if (found === undefined) throw new TypeError(`there is no kind ${kind}`);
  return referenceMember(found);
}

/** For a bridge transfer, whose refund is a send of our own. */
export const REFUND_SUFFIX = '.refund';

/** The operation whose record shows how a flow of the kind has ended. */
export const recordOperation = (kind: string): string => OF_KIND.get(kind)?.record ?? kind;

/** `none`: the service has no record. `owed`: it failed, and the service keeps a customer's money. */
export type PaymentState = 'none' | 'pending' | 'settled' | 'failed' | 'refunded' | 'owed';

const WORDS: Readonly<Record<string, PaymentState>> = {
  SUCCESSFUL: 'settled',
  SUCCESS: 'settled',
  COMPLETED: 'settled',
  APPROVED: 'settled',
  FAILED: 'failed',
  CANCELLED: 'failed',
  DECLINED: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed',
  NOT_RECEIVED: 'failed',
  FIAT_FAILED: 'failed',
  FIAT_CANCELLED: 'failed',
  FIAT_DECLINED: 'failed',
  FIAT_EXPIRED: 'failed',
  CRYPTO_FAILED: 'refunded',
  REVERSED: 'refunded',
  REFUNDED: 'refunded',
  REFUND_PENDING: 'owed',
  REFUND_FAILED: 'owed',
};

/** FAILED is no end if something was collected before: something is still held then. */
export function paymentStateOf(record: ServiceRecord | undefined, isHeld: boolean): PaymentState {
  if (record === undefined) return 'none';
  const state = WORDS[record.status] ?? 'pending';
  return state === 'failed' && isHeld ? 'owed' : state;
}
