import { eventOfRow } from '../src/flows/event-of-row.js';
import type { ClaimState } from '../src/protocol/claim-table.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import type { ClaimKey } from '../src/store/claim.js';
import { mayBeLost, pinOf, requireOwnDeployment, unsentOf, type UnsentOrder } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { retryLater, storing, unmatched } from './failures.js';

export interface VoidAllOrder extends UnsentOrder {
  /** Ids of the events that the flow has judged. */
  readonly reviewedEventIds: readonly string[];
}

export interface VoidAllAnswer {
  /** All of its claims are void, or were rejected, and nothing had come. */
  readonly isDone: boolean;
  readonly claims: readonly (Pick<ClaimKey, 'operation' | 'reference'> & ClaimState)[];
  /** Everything that the inbox holds of the flow, oldest first. */
  readonly events: readonly FlowEvent[];
}

/**
 * The last step of an end that says that nothing moved: voids all claims of the flow, or none if something has come that
 * it has not judged, or if a POST of one may have been executed. Tried again while a webhook is matched that may be about
 * this flow, and while a trusted event cannot be decrypted here.
 */
export async function voidAll(deps: ActivityDeps, order: VoidAllOrder): Promise<VoidAllAnswer> {
  const { flowId, reason, reviewedEventIds } = order;
  for (const claim of order.claims) await requireOwnDeployment(deps, claim);
  const pin = await pinOf(deps);
  return storing(async () => {
    const { claims } = deps.store;
    const ofFlow = await claims.ofFlow(flowId);
    const all = unsentOf(deps, order, pin, ofFlow);
    const found = await claims.voidAll(all, reason, { flowId, reviewedEventIds });
    if (!found.isDone && found.hasToMatch) throw unmatched();
    const unread = found.events.find(({ proof, state, unreadable }) => {
      return proof !== null && state === 'waiting' && unreadable !== undefined;
    });
    if (!found.isDone && unread?.unreadable !== undefined) throw retryLater('unreadable_event', unread.unreadable);
    return {
      isDone: found.isDone && !mayBeLost(order, pin, ofFlow),
      claims: found.claims.map(({ operation, reference, phase, sent }) => ({ operation, reference, phase, sent })),
      events: found.events.flatMap((row) => eventOfRow(flowId, row) ?? []),
    };
  });
}
