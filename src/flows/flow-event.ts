import type { InboxRow } from '../store/inbox.js';
import type { FlowDefinition } from './flow.js';
import type { FlowEvent } from './messages.js';

/** What an inbox row becomes on its way into its flow; a body that reads as no event still arrives, without status. */
export function toFlowEvent(row: InboxRow, definition: FlowDefinition): FlowEvent {
  const reading = definition.readEvent(row.body);
  return {
    id: row.id,
    source: row.source,
    trusted: row.proof !== null,
    proof: row.proof,
    status: reading?.status ?? null,
    receivedAt: row.receivedAt,
    facts: reading?.facts ?? {},
  };
}
