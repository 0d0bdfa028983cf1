import { flowOf } from '../../flows/index.js';
import { parseFlowId } from '../../flows/vocabulary.js';
import type { InboxRow } from '../../store/inbox.js';
import { flowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';

/** Whether a text is the id of a flow that may be. */
export function isFlowId(text: string): boolean {
  const flow = parseFlowId(text);
  return flow !== undefined && flowAddress(flow.kind, flow.reference) !== undefined;
}

/**
 * The flow that an event is delivered to anew. Of one that nobody could match, a person says it (`given`); where its body
 * names a reference, that one must be the flow's.
 *
 * @throws Refusal 409
 */
export function flowOfEvent(row: Pick<InboxRow, 'flowId' | 'body'>, given: string | undefined): string {
  if (row.flowId !== null) {
    if (given === undefined || given === row.flowId) return row.flowId;
    throw new Refusal(409, `The event is of ${row.flowId}: it is not delivered to another flow.`);
  }
  if (given === undefined) {
    throw new Refusal(409, 'The event names no flow: say which one it is of, as flowId, "{kind}/{reference}".');
  }
  const flow = parseFlowId(given);
  const named = flow === undefined ? null : flowOf(flow.kind)?.readEvent(row.body)?.reference;
  if (named != null && named !== flow?.reference) {
    throw new Refusal(409, 'The body of this event names another reference than that flow has.');
  }
  return given;
}
