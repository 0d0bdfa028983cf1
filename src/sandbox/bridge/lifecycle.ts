import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Script } from './endings.js';

/** What can happen to a deposit: its time has come, or a settlement report arrived. */
export type BridgeInput =
  { readonly kind: 'time'; readonly from: BridgeStatus } | { readonly kind: 'report'; readonly status: BridgeStatus };

/**
 * The status after `input`; undefined where nothing changes. Pure. By the interface a settlement webhook moves "any"
 * status to "the status value carried in the body"; time moves only as the script says, and only from the status that
 * it was set for (a report may have come first).
 */
export function advance(script: Script, status: BridgeStatus, input: BridgeInput): BridgeStatus | undefined {
  switch (input.kind) {
    case 'time':
      return input.from === status ? script.next[status] : undefined;
    case 'report':
      return input.status === status ? undefined : input.status;
    default:
      return input satisfies never;
  }
}
