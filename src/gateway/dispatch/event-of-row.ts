import { flowOf } from '../../flows/index.js';
import { toFlowEvent } from '../../flows/flow-event.js';
import type { FlowEvent } from '../../flows/messages.js';
import { parseFlowId } from '../../flows/vocabulary.js';
import type { InboxRow } from '../../store/inbox.js';

/** A person vouched for a row that its flow may have taken before, as unverified: flows take each id once. */
const VOUCHED = '.vouched';

export const rowIdOf = (eventId: string): string => eventId.replace(/\.vouched$/, '');

/** How the flow will see a row; `conflicting` where its body names another flow than the path it came by. */
export function eventOfRow(flowId: string, row: InboxRow): FlowEvent | 'conflicting' | undefined {
  const flow = parseFlowId(flowId);
  const definition = flow === undefined ? undefined : flowOf(flow.kind);
  if (flow === undefined || definition === undefined) return undefined;
  const named = definition.readEvent(row.body)?.reference ?? null;
  if (row.source === 'callback' && named !== null && named !== flow.reference) return 'conflicting';
  const event = toFlowEvent(row, definition);
  return row.proof === 'person' ? { ...event, id: row.id + VOUCHED } : event;
}
