import type { Logger } from 'pino';
import { eventOfRow, rowIdOf } from '../../flows/event-of-row.js';
import type { FlowReport } from '../../api/flow.js';
import { UNREADABLE, type FlowEvent } from '../../protocol/messages.js';
import type { EventVerdict, InboxBatch, InboxStore } from '../../store/inbox.js';
import { openEventMatter, type MatterStore } from '../../store/matters.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { SignalOutcome } from '../../temporal/start-flow.js';
import { classifyOfAnyKind, wordsOfSameEnding, type Meaning } from '../../protocol/statuses.js';
import type { FlowState } from '../../protocol/vocabulary.js';
import { UNTIL_KEY_COMES_MS, untilFlowHeals, untilSignalSeen, type OpenSignals } from './open-signals.js';
import type { UnreadableFlows } from './unreadable-flows.js';
import { MAX_UNTRUSTED, type InboxRow } from '../../protocol/events.js';

export interface DeliverDeps {
  readonly inbox: InboxStore;
  /** Gets a matter for what people must know at once. */
  readonly matters: Pick<MatterStore, 'open'>;
  readonly reader: Pick<FlowReader, 'facts' | 'report'>;
  readonly openSignals: OpenSignals;
  readonly unreadable: Pick<UnreadableFlows, 'examine'>;
  /** Sends the caller of a flow that its end is contradicted. @default no one is told */
  readonly tellCaller?: ((flowId: string) => Promise<void>) | undefined;
  readonly signal: (flowId: string, events: readonly FlowEvent[]) => Promise<SignalOutcome>;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** Called for each event that went out: how long after it was received. */
  readonly dispatched?: (lagSeconds: readonly number[]) => void;
}

/** Settling passes the lease to rows that came meanwhile: they are due now. */
const AT_ONCE = 0;

/** The signalled rows, which are to be marked as delivered; without any, when the flow is due again. */
type Delivery = { readonly signalled: readonly string[] } | { readonly dueInMs: number };

/**
 * Sends one flow's rows, in order, as one signal. The caller marks them as delivered after it: a crash in between
 * delivers twice, and the flow takes each id once.
 *
 * A flow that does not exist is looked up once, however proven the events are: the account's other users, and the
 * provider's, cause events that never have a flow of ours. If they kept waiting, they would cost calls for ever, and in
 * the end use the places of events that have a flow. A flow that is started later takes them over by itself
 * (`releaseWaiting`, in its first activity).
 */
export async function deliverBatch(deps: DeliverDeps, batch: InboxBatch): Promise<Delivery> {
  const { inbox } = deps;
  const { flowId, deferrals } = batch;
  const hopeless = deps.unreadable.examine(batch);
  if (hopeless === 'key may come') return putOff(inbox, flowId, UNTIL_KEY_COMES_MS);
  if (hopeless.length > 0) {
    await quarantine(deps, flowId, hopeless);
    return putOff(inbox, flowId, AT_ONCE);
  }
  const readable = await limitUntrusted(deps, batch.flowId, await eventsOf(deps, batch));
  if (readable.length === 0) return putOff(inbox, flowId, AT_ONCE);
  const { rows, events } = split(readable);

  // A flow that was signalled a moment ago may not have taken that yet. And anyone can post unproven events for flows that
  // never were: a signal to none costs Temporal more than this question.
  const wasSignalled = deps.openSignals.has(flowId);
  const isAskedFirst = wasSignalled || rows.every(({ proof }) => proof === null);
  let facts = isAskedFirst ? await deps.reader.facts(flowId) : undefined;
  if (wasSignalled && facts?.hasPendingTask === true) return putOff(inbox, flowId, untilSignalSeen(deferrals));
  if (!isAskedFirst || facts?.isOpen === true) {
    if ((await deps.signal(flowId, events)) === 'delivered') {
      deps.openSignals.add(flowId);
      deps.dispatched?.(rows.map(({ receivedAt }) => Math.max(0, deps.nowMs() - Date.parse(receivedAt)) / 1_000));
      return { signalled: rows.map(({ id }) => id) };
    }
    facts = await deps.reader.facts(flowId);
  }
  if (facts === undefined) {
    await inbox.markUnmatched(
      flowId,
      rows.map(({ id }) => id),
      'No flow of this id was there. One that is started later still gets it.',
    );
    return putOff(inbox, flowId, AT_ONCE);
  }
  // It continued as new between our two questions.
  if (facts.isOpen) return putOff(inbox, flowId, untilSignalSeen(deferrals));
  const report = await deps.reader.report(flowId);
  // No worker answers, so it is not known yet whether the flow took them. A history that can never be read says nothing.
  const isNew = rows.some(({ receivedAt }) => deps.nowMs() - Date.parse(receivedAt) < REPORTED_WITHIN_MS);
  if (report === undefined && facts.status !== 'TERMINATED' && isNew)
    return putOff(inbox, flowId, untilFlowHeals(deferrals));
  // The flow may have taken them from a signal whose answer was lost, and ended because of them.
  const verdicts = report === undefined ? [] : eventResultsOf(report, new Set(rows.map(({ id }) => id)));
  await inbox.settle(verdicts);
  const taken = new Set(verdicts.map(({ id }) => id));
  const late = rows.filter(({ id }) => !taken.has(id));
  if (late.length > 0) await markLate(deps, late, facts);
  return putOff(inbox, flowId, AT_ONCE);
}

/** So long may workers be away before the events of a closed flow are judged without its report. */
const REPORTED_WITHIN_MS = 3_600_000;

/** An event that cannot be read no longer blocks its flow: a person handles it. */
async function quarantine(
  { inbox, matters, logger }: DeliverDeps,
  flowId: string,
  rows: readonly InboxRow[],
): Promise<void> {
  for (const { id, unreadable } of rows) {
    logger.error({ alarm: 'event_quarantined', flowId, event: id, why: unreadable }, 'ALARM');
    await openEventMatter(matters, { kind: 'event_quarantined', flowId, eventId: id });
  }
  const detail = 'It could not be opened. What it says is unknown.';
  await inbox.settle(rows.map(({ id }) => ({ id, state: 'quarantined' as const, detail })));
}

interface Readable {
  readonly row: InboxRow;
  readonly event: FlowEvent;
}

async function eventsOf({ inbox }: DeliverDeps, batch: InboxBatch): Promise<readonly Readable[]> {
  const readable: Readable[] = [];
  for (const row of batch.rows) {
    const event = eventOfRow(batch.flowId, row);
    if (event !== undefined) readable.push({ row, event });
    else await inbox.settle([{ id: row.id, state: 'unmatched', detail: 'This version has no flow of that kind.' }]);
  }
  return readable;
}

/**
 * Anyone can post untrusted events: after the first few they stay in the inbox, and cannot fill a flow's history. The
 * first one of each ending is still shown: it vetoes what the flow would do by itself.
 */
async function limitUntrusted(
  { inbox }: DeliverDeps,
  flowId: string,
  readable: readonly Readable[],
): Promise<readonly Readable[]> {
  const untrusted = readable.filter(({ row }) => row.proof === null);
  if (untrusted.length === 0) return readable;
  const taken = await inbox.untrustedTaken(flowId, MAX_UNTRUSTED);
  const room = Math.max(0, MAX_UNTRUSTED - taken);
  const shown = untrusted.slice(0, room).flatMap(({ row }) => wordsOfSameEnding(row.status));
  const flood = new Set<string>();
  for (const { row } of untrusted.slice(room)) {
    const words = wordsOfSameEnding(row.status);
    const isKnown = words.some((word) => shown.includes(word)) || (await inbox.hasShownUntrusted(flowId, words));
    if (words.length === 0 || isKnown) flood.add(row.id);
    else shown.push(...words);
  }
  const detail = `Not shown to the flow: it has ${MAX_UNTRUSTED} untrusted events already. Replay it if it is genuine.`;
  await inbox.settle([...flood].map((id) => ({ id, state: 'unverified' as const, detail })));
  return readable.filter(({ row }) => !flood.has(row.id));
}

function split(readable: readonly Readable[]) {
  return { rows: readable.map(({ row }) => row), events: readable.map(({ event }) => event) };
}

async function putOff(inbox: InboxStore, flowId: string, delayMs: number): Promise<Delivery> {
  await inbox.defer(flowId, delayMs);
  return { dueInMs: delayMs };
}

/**
 * Rows for a flow that has ended: listed for a person, with an alarm if a proven event says that it ended differently.
 */
export async function markLate(
  { inbox, matters, logger, tellCaller }: Pick<DeliverDeps, 'inbox' | 'matters' | 'logger' | 'tellCaller'>,
  rows: readonly Pick<InboxRow, 'id' | 'status' | 'proof'>[],
  facts: NonNullable<Awaited<ReturnType<FlowReader['facts']>>>,
): Promise<void> {
  const alarming: string[] = [];
  const verdicts = rows.map((row) => {
    const trusted = row.proof !== null;
    const verdict = lateVerdict(row.status, facts.state, trusted);
    if (verdict.contradicts && trusted) {
      logger.error(
        { alarm: 'late_event_contradicts', flowId: facts.flowId, event: row.id, ended: facts.state },
        'ALARM',
      );
      alarming.push(row.id);
    }
    return { id: row.id, state: 'late' as const, detail: verdict.detail };
  });
  // Before the rows are settled: after a crash in between, all of it is done again.
  for (const eventId of alarming) {
    const { flowId, state: ended } = facts;
    await openEventMatter(matters, { kind: 'late_event_contradicts', flowId, eventId, ended });
  }
  if (alarming.length > 0) await tellCaller?.(facts.flowId);
  await inbox.settle(verdicts);
}

/** What a late event says about the ending of its flow. */
export interface LateVerdict {
  readonly contradicts: boolean;
  /** For a person who reads the event. */
  readonly detail: string;
}

/** Endings of a flow that agree with a word of this meaning. A word that is not final agrees with any. */
const AGREES_WITH: Readonly<Record<Meaning, readonly FlowState[] | undefined>> = {
  pending: undefined,
  // A failure says that nothing was collected.
  collected: ['completed', 'refunded'],
  'funds-held': ['refunded'],
  succeeded: ['completed'],
  // A failure comes before its refund.
  failed: ['failed', 'refunded', 'expired', 'cancelled'],
  'refund-pending': ['failed', 'refunded', 'expired', 'cancelled'],
  'refund-failed': ['failed'],
  // Money that came back had been collected.
  refunded: ['refunded'],
};

export function lateVerdict(status: string | null, ended: FlowState, trusted: boolean): LateVerdict {
  if (status === UNREADABLE) {
    return { contradicts: true, detail: `Came after the flow had ended as ${ended}, and cannot be read: it may say anything.` }; // prettier-ignore
  }
  const meaning = classifyOfAnyKind(status);
  const agreeing = AGREES_WITH[meaning];
  const said = status ?? 'no status';
  const proof = trusted ? '' : ' Its origin is not proven.';
  // A terminated flow did not end by itself, and the person who terminated it may not know that money moved.
  if (ended === 'parked') {
    const moved = meaning === 'succeeded' || meaning === 'refunded';
    return { contradicts: moved, detail: `The flow had been terminated; this says ${said}.${proof}` };
  }
  if (agreeing === undefined)
    return { contradicts: false, detail: `Came after the flow had ended as ${ended}: ${said}.` };
  if (agreeing.includes(ended))
    return { contradicts: false, detail: `Agrees: the flow had ended as ${ended}, this says ${said}.` };
  return { contradicts: true, detail: `CONTRADICTS: the flow had ended as ${ended}, this says ${said}.${proof}` };
}

const DETAILS: Readonly<Record<EventVerdict['state'], string>> = {
  applied: 'The flow applied it.',
  duplicate: 'The flow knew this already.',
  unverified: 'The flow keeps it as unverified: its origin is not proven.',
  conflicting: 'It contradicts what the flow knows.',
  waiting: '',
  delivered: '',
  late: '',
  unmatched: '',
  quarantined: '',
};

/** The state of the wanted rows, as far as the flow's report names their events. */
export function eventResultsOf(report: FlowReport, wanted: ReadonlySet<string>): EventVerdict[] {
  const byRow = new Map<string, EventVerdict['state']>();
  for (const [eventId, result] of Object.entries(report.events)) {
    const id = rowIdOf(eventId);
    // A row that a person vouched for was delivered twice: the second result counts, unless the first says more. If the
    // second one was applied, the flow has made the first one its duplicate.
    const earlier = byRow.get(id);
    const saysMore =
      earlier === undefined || earlier === 'unverified' || (earlier === 'duplicate' && result === 'applied');
    if (wanted.has(id) && saysMore) byRow.set(id, result);
  }
  return [...byRow].map(([id, state]) => ({ id, state, detail: DETAILS[state] }));
}
