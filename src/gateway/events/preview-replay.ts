import type { FlowEvent } from '../../flows/messages.js';
import type { InboxRow } from '../../store/inbox.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { eventOfRow } from '../../flows/event-of-row.js';

/** What a replay would do, in words and as the flow would see the event. */
export interface ReplayPreview {
  readonly would: string;
  readonly flowState: string | null;
  readonly asEvent: FlowEvent | null;
}

export async function previewReplay(
  reader: Pick<FlowReader, 'facts'>,
  row: InboxRow,
  flowId: string,
  trust: boolean,
): Promise<ReplayPreview> {
  const vouched: InboxRow = trust ? { ...row, proof: 'person' } : row;
  const event = eventOfRow(flowId, vouched);
  const facts = await reader.facts(flowId);
  const asEvent = event === undefined || event === 'conflicting' ? null : event;
  return { would: sentence(event, facts), flowState: facts?.state ?? null, asEvent };
}

function sentence(event: ReturnType<typeof eventOfRow>, facts: Awaited<ReturnType<FlowReader['facts']>>): string {
  if (event === 'conflicting') return 'Be listed as conflicting: its body names another flow than its path.';
  if (event === undefined) return 'Be listed as unmatched: this version has no flow of that kind.';
  if (facts === undefined) return 'Wait for its flow, which does not exist; an old event is listed as unmatched again.';
  if (!facts.isOpen) return `Be listed as late: the flow has ended as ${facts.state}.`;
  return event.trusted ? 'Be delivered as trusted.' : 'Be delivered as unverified.';
}
