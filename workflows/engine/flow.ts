import {
  CancellationScope,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Cause } from '../../src/protocol/causes.js';
import type {
  FlowReport,
  FlowTerms,
  FlowView,
  Outcome,
  Parked,
  TimelineEntry,
  SubmitAnswer,
} from '../../src/protocol/messages.js';
import {
  defaultDeadlineSeconds,
  type FlowKind,
  type FlowState,
  type TimelineCode,
} from '../../src/protocol/vocabulary.js';
import type { Meaning } from '../../src/protocol/statuses.js';
import { readTime } from '../../src/readers/time.js';
import { isPlaintext, requireKnownKey } from '../../src/protocol/plaintext-marker.js';
import type { ClaimRef } from '../../activities/types.js';
import {
  eventsOf,
  NO_EVIDENCE,
  openEventBook,
  type EventBook,
  type EventBookState,
  type Evidence,
} from './event-book.js';
import { eventsSignal, flowQuery, type Resolution, type MoneyPhase } from './messages.js';
import { reportChanges, type ChangeReports, type ReportsCarried } from './report-changes.js';
import { currentDetails, withEntry } from './timeline.js';

/** What every kind carries through continue-as-new. */
export interface FlowCarried {
  readonly startedAt: string;
  readonly deadlineAtMs: number;
  readonly stage: string;
  readonly serviceReference: string | null;
  readonly terms?: FlowTerms | null;
  readonly timeline: readonly TimelineEntry[];
  readonly book: EventBookState;
  readonly droppedPlaintext: number;
  readonly allowPlaintext: boolean;
  readonly money: MoneyPhase;
  readonly reports?: ReportsCarried;
  readonly answer?: SubmitAnswer | null;
  readonly stop?: Outcome | null;
  readonly unsureStop?: Outcome | null;
}

/** The state that every flow kind shares: what the query shows, the events, the deadline. */
export interface Flow {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
  readonly timeScale: number;
  readonly book: EventBook;
  /** True from the moment the deadline timer fired. */
  readonly deadlinePassed: boolean;
  readonly allowPlaintext: boolean;
  serviceReference: string | null;
  /** What it moves, for the person who decides. */
  terms: FlowTerms | null;
  parked: Parked | null;
  /** Set as soon as the service's answer to the main POST is known. */
  answer: SubmitAnswer | null;
  /** Set when the flow only waits for its handlers, to continue in a new run. */
  continuesAsNew: boolean;
  /** A person's order about the parked flow, until it is carried out. */
  resolution: Resolution | null;
  /** The last order that was not carried out, because of what was proven by then. */
  refused: { readonly order: Resolution; readonly why: Cause } | null;
  /** Set when the flow was stopped before its money moved. */
  stop: Outcome | null;
  /** The end by a stop that was refused because the store did not answer, which may carry it out nevertheless. */
  unsureStop: Outcome | null;
  money: MoneyPhase;
  /** Updates that this run has accepted. */
  updates: number;
  /** When it parked last, ms; 0: never in this run. */
  parkedAtMs: number;
  /** An end was decided, and is being checked: the flow takes no order that would move money. */
  isEnding: boolean;
  /** Number of writes to the store in progress: the flow does not end before they are done, or took too long. */
  notifying: number;
  /** Attempts to stop it that are under way. */
  stopping: number;
  /** Why the flow must not be stopped although nothing was sent; null if there is no such check. */
  beforeStop: (() => Promise<Cause | null>) | null;
  /**
   * Checks an end that says that nothing moved: the store may have been away since it was decided. How the flow ends if
   * something says otherwise by now: then it goes on. Null: the end stands.
   */
  overtaken: (ended: Outcome) => Promise<Outcome | null>;
  /** What is proven of its money so far, by the events that were taken and by the lookup. */
  proven: () => readonly Meaning[];
  /**
   * Whether an untrusted event forbids the flow to end as failed by itself.
   * @param isRefused the service refused its POST, which counts like a proven failure
   */
  vetoed: (isRefused?: boolean) => boolean;
  /** What its events say besides; `proven`: that the service has what the flow would pay. */
  evidence: () => Evidence;
  /** Every claim that it may send under. */
  claims: () => readonly ClaimRef[];
  /** Undefined if no caller wants callbacks. */
  readonly reports: ChangeReports | undefined;
  /** A submit may come or is in progress, and the flow waits for nothing else. */
  isSending(): boolean;
  /** Scales a wait of our own, in milliseconds. */
  scaled(ms: number): number;
  /** Enters a stage; the timeline and the UI's current details show it. */
  enter(stage: string, code: TimelineCode, detail: string, by?: string): void;
  /** Adds to the timeline: `code` for programs, `detail` for a person. */
  note(code: TimelineCode, detail: string, by?: string): void;
  /** The flow waits longer: one more default deadline, or until the time that a person's `keep-waiting` gives. */
  extendDeadline(until?: string): void;
  handlePlaintext(allowed: boolean): void;
  /** Keeps what distinguishes this request from another one under its reference, if its starter did not. */
  keepFingerprint(fingerprint: string): void;
  view(outcome?: Outcome): FlowView;
  report(outcome?: Outcome): FlowReport;
  end(outcome: Outcome): void;
  /** Signals received in this run. */
  signals(): number;
  carry(): FlowCarried;
}

/** Opens the flow of this execution: state, `events` signal, `flow` query, and the one deadline timer. */
export function openFlow(kind: FlowKind, rawInput: unknown, carried?: FlowCarried): Flow {
  requireKnownKey(rawInput);
  const flowId = workflowInfo().workflowId;
  const reference = flowId.startsWith(`${kind}/`) ? flowId.slice(kind.length + 1) : flowId;
  const startedAt = carried?.startedAt ?? new Date().toISOString();
  const timeScale = numberIn(rawInput, 'timeScale', 0, 1) ?? 1;
  const deadlineMs = (numberIn(rawInput, 'deadlineSeconds', 0, 2_592_000) ?? defaultDeadlineSeconds(kind)) * 1_000;

  let allowPlaintext: boolean | undefined = carried?.allowPlaintext;
  let heldPlaintext: unknown[] = [];
  let droppedPlaintext = carried?.droppedPlaintext ?? 0;
  let deadlineAtMs = carried?.deadlineAtMs ?? Date.now() + Math.ceil(deadlineMs * timeScale);
  let stage = carried?.stage ?? 'preparing';
  let updatedAt = startedAt;
  let timeline: readonly TimelineEntry[] = carried?.timeline ?? [];
  let outcome: Outcome | null = null;
  let signals = 0;
  const deadline = { passed: false };
  let reports: ChangeReports | undefined;

  const flow: Flow = {
    kind,
    reference,
    flowId,
    timeScale,
    book: openEventBook(carried?.book),
    get deadlinePassed() {
      return deadline.passed;
    },
    get allowPlaintext() {
      return allowPlaintext ?? false;
    },
    serviceReference: carried?.serviceReference ?? null,
    terms: carried?.terms ?? null,
    parked: null,
    answer: carried?.answer ?? null,
    continuesAsNew: false,
    resolution: null,
    refused: null,
    stop: carried?.stop ?? null,
    unsureStop: carried?.unsureStop ?? null,
    money: carried?.money ?? { at: 'unsent' },
    updates: 0,
    parkedAtMs: 0,
    isEnding: false,
    notifying: 0,
    stopping: 0,
    beforeStop: null,
    overtaken: async () => null,
    proven: () => [],
    vetoed: () => false,
    evidence: () => NO_EVIDENCE,
    claims: () => [],
    get reports() {
      return reports;
    },
    isSending: () => flow.money.at === 'claimed' && flow.money.isWaiting !== true,
    scaled: (ms) => Math.max(1, Math.ceil(ms * timeScale)),
    enter(next, code, detail, by = 'flow') {
      stage = next;
      flow.note(code, detail, by);
    },
    note(code, detail, by = 'flow') {
      updatedAt = new Date().toISOString();
      timeline = withEntry(timeline, { at: updatedAt, stage, by, code, detail });
      setCurrentDetails(currentDetails(flow.view()));
    },
    extendDeadline(until) {
      deadlineAtMs = readTime(until) ?? Date.now() + Math.ceil(deadlineMs * timeScale);
      deadline.passed = false;
      watchDeadline();
    },
    handlePlaintext(allowed) {
      allowPlaintext = allowed;
      const held = heldPlaintext;
      heldPlaintext = [];
      held.forEach(takeSignal);
    },
    keepFingerprint(fingerprint) {
      if (workflowInfo().memo?.['fingerprint'] === undefined) upsertMemo({ fingerprint });
    },
    view: (ending) => {
      const end = ending ?? outcome;
      const state: FlowState = end?.state ?? (flow.parked === null ? 'running' : 'parked');
      return {
        kind,
        reference,
        flowId,
        state,
        stage,
        serviceReference: flow.serviceReference,
        startedAt,
        updatedAt,
        deadlineAt: new Date(deadlineAtMs).toISOString(),
        terms: flow.terms,
        parked: flow.parked,
        outcome: end,
        timeline,
      };
    },
    report: (ending) => ({ view: flow.view(ending), events: flow.book.results() }),
    end(ending) {
      outcome = ending;
      flow.book.close();
      flow.parked = null;
      stage = 'done';
      flow.note('ended', ending.detail);
    },
    signals: () => signals,
    carry: () => ({
      startedAt,
      deadlineAtMs,
      stage,
      serviceReference: flow.serviceReference,
      terms: flow.terms,
      timeline,
      book: flow.book.state(),
      droppedPlaintext,
      allowPlaintext: allowPlaintext ?? false,
      money: flow.money,
      answer: flow.answer,
      stop: flow.stop,
      unsureStop: flow.unsureStop,
      ...(reports === undefined ? {} : { reports: reports.carry() }),
    }),
  };

  function takeSignal(argument: unknown): void {
    // Without its key the task fails, and waits for a worker that has it. Dropping the signal would lose events.
    requireKnownKey(argument);
    if (!isPlaintext(argument)) return eventsOf(argument).forEach((event) => flow.book.take(event));
    if (allowPlaintext === undefined) heldPlaintext.push(argument);
    else if (allowPlaintext) eventsOf(argument.__plaintext).forEach((event) => flow.book.take(event));
    else {
      droppedPlaintext += 1;
      flow.note('plaintext-dropped', `dropped an unencrypted message (${droppedPlaintext} so far)`);
    }
  }

  function watchDeadline(): void {
    void deadlineReached(deadlineAtMs);
  }

  /** Ends with the workflow; an extension starts another wait, and this one then finds that it no longer counts. */
  async function deadlineReached(atMs: number): Promise<void> {
    // A cancel in the UI must neither end the timer nor break the flow by it.
    // Bounded by itself: it is the deadline.
    await CancellationScope.nonCancellable(() =>
      sleep(Math.max(1, atMs - Date.now()), { summary: 'Deadline of the flow' }),
    );
    if (atMs === deadlineAtMs) deadline.passed = true;
  }

  setHandler(eventsSignal, (argument) => {
    signals += 1;
    takeSignal(argument);
  });
  setHandler(flowQuery, () => flow.report());
  watchDeadline();
  reports = reportChanges(flow, rawInput, carried?.reports);
  return flow;
}

/** A number in the unchecked input, if it is sensible: timers start before the input was checked. */
export function numberIn(rawInput: unknown, member: string, above: number, most: number): number | undefined {
  const input = isPlaintext(rawInput) ? rawInput.__plaintext : rawInput;
  const value = (input as Record<string, unknown> | null | undefined)?.[member];
  return typeof value === 'number' && value > above && value <= most ? value : undefined;
}
