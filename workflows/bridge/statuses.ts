import { BRIDGE_STATUSES, type BridgeStatus } from '../../src/contract/vocabulary.js';

/**
 * Everything that trusted events said about one transfer. A set, so that the order in which they came cannot matter.
 */
export interface SeenStatuses {
  readonly seen: readonly BridgeStatus[];
}

export const NOTHING_SEEN: SeenStatuses = { seen: [] };

/** What a set of statuses means. `conflict`: endings that exclude one another were both proven. */
export type BridgeState =
  | { readonly kind: 'open'; readonly highest: BridgeStatus | null }
  | { readonly kind: 'ended'; readonly ending: Ending }
  | { readonly kind: 'conflict' };

export type Ending = 'COMPLETED' | 'FAILED' | 'REFUNDED';

/** The status words of the bridge in their own order; any other word is kept elsewhere, and is not a status. */
export function asBridgeStatus(word: string | null): BridgeStatus | undefined {
  return BRIDGE_STATUSES.find((status) => status === word);
}

/** Adds a status: the status only rises, and terminal ones stay, because nothing is ever removed. */
export function foldStatus(before: SeenStatuses, status: BridgeStatus): SeenStatuses {
  if (before.seen.includes(status)) return before;
  return { seen: BRIDGE_STATUSES.filter((word) => word === status || before.seen.includes(word)) };
}

/** FAILED → REFUNDED is the only legal move between endings; COMPLETED excludes both. */
export function bridgeStateOf({ seen }: SeenStatuses): BridgeState {
  const completed = seen.includes('COMPLETED');
  const failed = seen.includes('FAILED');
  const refunded = seen.includes('REFUNDED');
  if (completed && (failed || refunded)) return { kind: 'conflict' };
  if (completed) return { kind: 'ended', ending: 'COMPLETED' };
  if (refunded) return { kind: 'ended', ending: 'REFUNDED' };
  if (failed) return { kind: 'ended', ending: 'FAILED' };
  return { kind: 'open', highest: seen.at(-1) ?? null };
}

/** True if the crypto is known to have been paid to us, so that a failure owes the customer a refund. */
export function cryptoWasPaid({ seen }: SeenStatuses): boolean {
  return seen.includes('PAYMENT_SENT') || seen.includes('PAYMENT_CONFIRMED') || seen.includes('SETTLING');
}

/** True if the status is higher than every earlier one: only then it is passed on. */
export function rises({ seen }: SeenStatuses, status: BridgeStatus): boolean {
  return seen.every((word) => BRIDGE_STATUSES.indexOf(word) < BRIDGE_STATUSES.indexOf(status));
}
