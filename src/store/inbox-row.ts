import { SealBrokenError, UnknownKeyError } from '../keys/index.js';
import type { SealedJson } from './store-key.js';
import type { SqlBlob } from './sql-message.js';
import type { InboxState, InboxRow, InboxSource, Proof, ReceivedEvent } from '../protocol/events.js';

/** A row of the table `inbox`. */
export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  readonly source: InboxSource;
  readonly flow_id: string | null;
  readonly reference: string | null;
  readonly status: string | null;
  readonly proof: Proof | null;
  readonly content_hash: string;
  readonly body: SqlBlob | null;
  readonly state: InboxState;
  readonly detail: SqlBlob | null;
  readonly received_at: number;
  readonly delivered_at: number | null;
  readonly settled_at: number | null;
  readonly repeats: number;
}

/** What a flow says of a row, as a condition: what it said before stays, but that an event is not proven may change. */
export const CAN_BE_SETTLED = `(settled_at IS NULL OR state = 'unverified')`;

/** The place that a sealed column of an event is bound to. */
export function placeOf(id: string, column: 'body' | 'detail'): readonly string[] {
  return ['inbox', id, column];
}

/** A row whose seals cannot be opened is shown without them, and says so: a lost key must not hide the inbox. */
export function inboxRowOf(row: StoredEvent, sealed: SealedJson): InboxRow {
  return {
    id: row.id,
    source: row.source,
    flowId: row.flow_id,
    reference: row.reference,
    status: row.status,
    proof: row.proof,
    contentHash: row.content_hash,
    state: row.state,
    receivedAt: iso(row.received_at),
    deliveredAt: row.delivered_at === null ? null : iso(row.delivered_at),
    settledAt: row.settled_at === null ? null : iso(row.settled_at),
    repeats: row.repeats,
    ...contentOf(row, sealed),
  };
}

/** The row of an event that was stored at that moment, as it would be read. */
export function newRowOf(event: ReceivedEvent, receivedAtMs: number): InboxRow {
  const { earlierHashes: _earlierHashes, toMatch: _toMatch, ...stored } = event;
  return {
    ...stored,
    state: 'waiting',
    detail: null,
    receivedAt: iso(receivedAtMs),
    deliveredAt: null,
    settledAt: null,
    repeats: 0,
  };
}

function contentOf(
  row: StoredEvent,
  sealed: SealedJson,
): Pick<InboxRow, 'body' | 'detail' | 'unreadable' | 'isBroken'> {
  let problem: UnknownKeyError | SealBrokenError | undefined;
  const opened = (column: 'body' | 'detail'): unknown => {
    const value = row[column];
    if (value === null) return undefined;
    try {
      return sealed.open(placeOf(row.id, column), value);
    } catch (error) {
      if (!(error instanceof UnknownKeyError || error instanceof SealBrokenError)) throw error;
      problem = error;
      return undefined;
    }
  };
  const content = { body: opened('body'), detail: (opened('detail') as string | undefined) ?? null };
  if (problem === undefined) return content;
  const isBroken = problem instanceof SealBrokenError ? { isBroken: true as const } : {};
  return { ...content, unreadable: problem.message, ...isBroken };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
