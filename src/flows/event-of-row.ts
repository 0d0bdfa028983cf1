import type { EventReading, FlowDefinition } from './flow.js';
import { PLAIN_WORD } from './callback.js';
import { flowOf } from './index.js';
import { isUnread, UNREADABLE, type FlowEvent } from '../protocol/messages.js';
import { parseFlowId } from '../protocol/vocabulary.js';
import { unopenedIdOf, VOUCHED, type InboxRow } from '../protocol/events.js';

/** The inbox row that an event was made of. */
export const rowIdOf = (eventId: string): string =>
  eventId.endsWith(VOUCHED) ? eventId.slice(0, -VOUCHED.length) : eventId;

/** The id under which a flow knows the event of a row. */
export const eventIdOf = ({ id, proof }: Pick<InboxRow, 'id' | 'proof'>): string =>
  proof === 'person' ? id + VOUCHED : id;

/** A row as the flow will see it; `conflicting` if its body names another flow than the path that received it. */
export function eventOfRow(flowId: string, row: InboxRow): FlowEvent | 'conflicting' | undefined {
  const flow = parseFlowId(flowId);
  if (flow === undefined) return undefined;
  const definition = flowOf(flow.kind);
  const named = definition.readEvent(row.body)?.reference ?? null;
  if (row.source === 'callback' && named !== null && named !== flow.reference) return 'conflicting';
  return toFlowEvent(row, definition);
}

/** What is known of a row whose body cannot be decrypted. */
export function unopenedEventOf(row: InboxRow): FlowEvent {
  const { source, proof, receivedAt } = row;
  const status = row.status === UNREADABLE ? null : row.status;
  const facts = { body: UNREADABLE };
  return { id: unopenedIdOf(eventIdOf(row)), source, trusted: proof !== null, proof, status, receivedAt, facts };
}

/** A body that reads as no event still arrives: it may say anything. */
function toFlowEvent(row: InboxRow, definition: FlowDefinition): FlowEvent {
  const reading = definition.readEvent(row.body);
  // A person who vouches for an event says that it is about the flow itself.
  const proof = reading?.isClaim === true && row.proof !== 'person' ? null : row.proof;
  const facts = reading?.facts ?? { body: UNREADABLE };
  return {
    id: eventIdOf(row),
    source: row.source,
    trusted: proof !== null,
    proof,
    status: wordOf(reading),
    receivedAt: row.receivedAt,
    facts: Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, short(fact)])),
  };
}

/** A stranger's event stands in the flow's history, where people see it: what is too long for a fact is none. */
const short = (fact: string): string => (fact.length <= LONGEST_FACT ? fact : UNREADABLE);
const LONGEST_FACT = 256;

/** The status word of an event; null if it has none. */
export function wordOf(reading: EventReading | undefined): string | null {
  const status = reading?.status;
  return typeof status === 'string' && PLAIN_WORD.test(status) ? status : null;
}

/** The word under which an event is filed, where its body cannot be seen: `UNREADABLE` if that may say anything. */
export const filedWordOf = (reading: EventReading | undefined): string | null =>
  wordOf(reading) ?? (reading === undefined || isUnread(reading.facts) ? UNREADABLE : null);
