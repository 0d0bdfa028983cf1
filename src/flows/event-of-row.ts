import { namesNoObject, type EventReading, type FlowDefinition } from './flow.js';
import { PLAIN_WORD, saysProviderReference } from './callback.js';
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

/**
 * A row as its flow sees it: the one reading of a row, for all who judge it. Whose event it is was decided when it came,
 * by its path or by a match; what its body says of that may differ, as any other fact. Undefined if this version has no
 * flow of that kind.
 */
export function eventOfRow(flowId: string, row: InboxRow): FlowEvent | undefined {
  const flow = parseFlowId(flowId);
  if (flow === undefined) return undefined;
  return row.body === undefined ? unopenedEventOf(row) : toFlowEvent(row, flowOf(flow.kind), flow.reference);
}

/** What is known of a row whose body cannot be decrypted, or was purged: what it says is unknown. */
function unopenedEventOf(row: InboxRow): FlowEvent {
  const { source, proof, receivedAt } = row;
  const status = row.status === UNREADABLE ? null : row.status;
  const facts = { body: UNREADABLE };
  return { id: unopenedIdOf(eventIdOf(row)), source, trusted: proof !== null, proof, status, receivedAt, facts };
}

/** A body that reads as no event still arrives: it may say anything. */
function toFlowEvent(row: InboxRow, definition: FlowDefinition, reference: string): FlowEvent {
  const reading = definition.readEvent(row.body);
  // A person who vouches for an event says that it is about the flow itself.
  const isClaim = reading?.isClaim === true || mayBeOfAnyObject(row, definition);
  const proof = isClaim && row.proof !== 'person' ? null : row.proof;
  const other = otherReference(reading, reference);
  const facts = { ...(reading?.facts ?? { body: UNREADABLE }), ...(other === undefined ? {} : { reference: other }) };
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

/**
 * An account webhook whose name says nothing of its object may be of any object under the reference, such as a deposit that
 * another system of the account began: where no lookup tells them apart, it only holds back.
 */
function mayBeOfAnyObject({ source, body }: InboxRow, { webhooks, status }: FlowDefinition): boolean {
  if (source !== 'webhook' || status !== undefined || !namesNoObject(body)) return false;
  return webhooks !== undefined || !saysProviderReference(body);
}

/** The reference that a body names in place of the flow's own. Ours in any of the spellings is enough. */
export const otherReference = (reading: EventReading | undefined, ours: string): string | undefined =>
  reading === undefined || reading.references.includes(ours) ? undefined : reading.references[0];

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
