import { BRIDGE_STATUSES, type BridgeStatus } from '../../src/contract/vocabulary.js';
import { endingByProof, ENDINGS, type Ending } from '../../src/protocol/decisions.js';
import { CRYPTO_PAID } from '../../src/protocol/statuses.js';

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
  | { readonly kind: 'ended'; readonly ending: BridgeEnding }
  | { readonly kind: 'conflict' };

const BRIDGE_ENDINGS = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  refunded: 'REFUNDED',
} as const satisfies Record<Ending, BridgeStatus>;
export type BridgeEnding = (typeof BRIDGE_ENDINGS)[Ending];

export const endingsSeen = ({ seen }: SeenStatuses): readonly Ending[] =>
  ENDINGS.filter((ending) => seen.includes(BRIDGE_ENDINGS[ending]));

/** Whether a transfer can end with it. */
export function isEnding(status: BridgeStatus): boolean {
  return Object.values<BridgeStatus>(BRIDGE_ENDINGS).includes(status);
}

/** The status words of the bridge in their own order; any other word is kept elsewhere, and is not a status. */
export function asBridgeStatus(word: string | null): BridgeStatus | undefined {
  return BRIDGE_STATUSES.find((status) => status === word);
}

/** Adds a status: the status only rises, and terminal ones stay, because nothing is ever removed. */
export function foldStatus(before: SeenStatuses, status: BridgeStatus): SeenStatuses {
  if (before.seen.includes(status)) return before;
  return { seen: BRIDGE_STATUSES.filter((word) => word === status || before.seen.includes(word)) };
}

export function bridgeStateOf(statuses: SeenStatuses): BridgeState {
  const ending = endingByProof(endingsSeen(statuses));
  if (ending === null) return { kind: 'open', highest: statuses.seen.at(-1) ?? null };
  return ending === 'conflict' ? { kind: 'conflict' } : { kind: 'ended', ending: BRIDGE_ENDINGS[ending] };
}

/** True if the crypto is known to have been paid to us, so that a failure owes the customer a refund. */
export function cryptoWasPaid({ seen }: SeenStatuses): boolean {
  return seen.some((status) => status in CRYPTO_PAID);
}

/** True if the status is higher than every earlier one: only then it is passed on. */
export function rises({ seen }: SeenStatuses, status: BridgeStatus): boolean {
  return seen.every((word) => BRIDGE_STATUSES.indexOf(word) < BRIDGE_STATUSES.indexOf(status));
}
