import { eventOfRow } from '../src/flows/event-of-row.js';
import { MAX_UNTRUSTED } from '../src/protocol/events.js';
import type { FlowEvent } from '../src/protocol/messages.js';
import { referenceOfFlow } from '../src/protocol/vocabulary.js';
import { requireOwnDeployment } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { readFailure, retryLater, unmatched } from './failures.js';
import type { ClaimRef } from './types.js';

export interface InboxOrder {
  readonly flowId: string;
  /** One that the flow may send under: only a worker of its deployment has its inbox. */
  readonly claim?: ClaimRef;
}

/**
 * The trusted events of this flow that the inbox holds, and the latest untrusted ones: before an order, and for a last
 * check. Retried while a webhook is still being matched that may be about this flow, and while a trusted event cannot be
 * decrypted that a gateway may still deliver.
 */
export async function readInbox(deps: ActivityDeps, { flowId, claim }: InboxOrder): Promise<readonly FlowEvent[]> {
  if (claim !== undefined) await requireOwnDeployment(deps, claim);
  try {
    // First: a webhook that is matched meanwhile is read below.
    if (await deps.store.inbox.hasToMatch(referenceOfFlow(flowId))) throw unmatched();
    // A query of their own: a flood of forgeries must not hide the genuine ones.
    const trusted = await deps.store.inbox.list({ flowId, trusted: true, limit: 200 });
    const closed = trusted.find(({ state, unreadable }) => state === 'waiting' && unreadable !== undefined);
    if (closed?.unreadable !== undefined) throw retryLater('unreadable_event', closed.unreadable);
    const untrusted = await deps.store.inbox.list({ flowId, trusted: false, limit: MAX_UNTRUSTED });
    // As the gateway would deliver them.
    return [...untrusted, ...trusted].toReversed().flatMap((row) => eventOfRow(flowId, row) ?? []);
  } catch (error) {
    throw readFailure(error);
  }
}
