import { createHash } from 'node:crypto';
import type { Resolve } from '../callbacks/index.js';
import { type Clock, createRounds, growingPauseMs, pause, systemClock } from '../clock.js';
import type { NotifyTarget } from '../config/notify-urls.js';
import { inTurns } from '../in-turns.js';
import { isLasting } from '../protocol/matters.js';
import type { Duty } from '../store/duties.js';
import type { DueMatter, MatterStore, SentTo } from '../store/matters.js';
import { createHeartbeat, type HeartbeatDeps } from './heartbeat.js';
import { noticeOf, type Notice, type Places } from './notice.js';
import { postNotice } from './send.js';

export interface NotifyDeps extends Partial<HeartbeatDeps> {
  readonly matters: MatterStore;
  /** Whether this process holds the duty to notify, and not another one. */
  readonly duty: Duty;
  /** At this moment. */
  readonly targets: () => readonly NotifyTarget[];
  /** Our secrets, `whsec_…`; the first signs. */
  readonly secrets: () => readonly string[];
  /** When reminders are sent, ms after the matter was opened; after the last one once a day. */
  readonly escalateAfterMs: readonly number[];
  readonly places: Places;
  /** Called before a reminder: false only if it is known that nothing is left to do. May take long, or for ever. */
  readonly isStillOpen?: (matter: DueMatter) => Promise<boolean>;
  readonly log: {
    info(detail: object, message: string): void;
    warn(detail: object, message: string): void;
  };
  /** @default 1,000 */
  readonly everyMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
  /** @default the name servers' */
  readonly resolve?: Resolve;
}

export interface Notifier {
  start(): void;
  /** One round at once, for tests. */
  round(): Promise<void>;
  stop(): Promise<void>;
}

/** How long notifications wait after the process that sent them died, and a third of it. */
export const NOTIFY_DUTY_MS = 12_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const MATTERS_AT_ONCE = 1_000;
/** How long all reminders of a round wait for `isStillOpen`, and how many calls of it run at a time. */
const ASK_MS = 2_000;
const ASKED_AT_ONCE = 10;
/** Time of one pass for each receiver: the rest for a slow one comes later, and no other one waits for it. */
const PASS_MS = 5_000;
/** More new matters than this are one message for people: a provider that is down parks hundreds of flows. */
const MOST_SINGLE = 10;
/** After that many of one kind and reason, people get the further ones together, once in this time. */
const TOGETHER_MS = 120_000;
/** A failing receiver is not tried for this long, each time twice as long, up to the maximum. */
const PAUSE_MS = 2_000;
const PAUSE_MOST_MS = 300_000;
/** A receiver that is down for longer no longer gets notifications of resolved matters. */
const RESOLVED_WAITS_MS = DAY_MS;

interface Receiver extends NotifyTarget {
  readonly id: string;
  failures: number;
  pausedUntilMs: number;
  /** By event, kind and reason: since when it was sent how often. */
  readonly recent: Map<string, { readonly sinceMs: number; count: number }>;
}

/** The next notification of one matter to a receiver. */
interface Step {
  readonly matter: DueMatter;
  readonly next: SentTo;
  readonly notice: Notice;
}

/**
 * Sends the matters in the store to people: once for each matter and receiver, by one process at a time. It needs only
 * the store: Temporal may be down.
 */
export function createNotifier(deps: NotifyDeps): Notifier {
  const { matters, clock = systemClock, log } = deps;
  let receivers: readonly Receiver[] = [];
  const heartbeat = createHeartbeat({ ...deps, countOpen: () => matters.countOpen() });

  function receiversNow(): readonly Receiver[] {
    return deps.targets().map((target) => {
      const id = idOf(target);
      return (
        receivers.find((known) => known.id === id) ?? {
          ...target,
          id,
          failures: 0,
          pausedUntilMs: 0,
          recent: new Map(),
        }
      );
    });
  }

  async function round(): Promise<void> {
    receivers = receiversNow();
    const isOurs = await deps.duty.isOurs();
    if (isOurs && receivers.length > 0) await sendDue();
    // Each process reports what it could not check itself.
    await heartbeat.beat(isOurs);
  }

  async function sendDue(): Promise<void> {
    const { nowMs, matters: due } = await matters.due(MATTERS_AT_ONCE);
    const isReminder = (matter: DueMatter) => matter.resolvedAtMs === undefined && levelAt(matter, nowMs) > 0;
    // New matters do not wait.
    await sendAll(
      due.filter((matter) => !isReminder(matter)),
      nowMs,
    );
    await sendAll(await withoutOver(due.filter(isReminder)), nowMs);
  }

  async function sendAll(open: readonly DueMatter[], nowMs: number): Promise<void> {
    const untilMs = clock.monotonicMs() + PASS_MS;
    const sent = new Map(open.map((matter) => [matter.id, { ...matter.sent }]));
    await Promise.all(
      receivers.map(async (receiver) => {
        const due = open.filter((matter) => heldBackMs(receiver, matter, nowMs) === 0);
        for (const steps of grouped(receiver, stepsOf(receiver, due, nowMs))) {
          const atMs = clock.monotonicMs();
          // A round may take long: another process must not take the duty while this one sends.
          if (atMs >= untilMs || receiver.pausedUntilMs > atMs || !(await deps.duty.isOurs())) return;
          if (!(await send(receiver, steps, nowMs))) return;
          for (const { matter, next } of steps) Object.assign(sent.get(matter.id) ?? {}, { [receiver.id]: next });
        }
      }),
    );
    for (const matter of open) {
      const now = sent.get(matter.id) ?? {};
      await matters.keep(matter, { sent: now, dueAtMs: nextDueMs({ ...matter, sent: now }, nowMs) });
    }
  }

  /**
   * A flow may have continued without closing its matter: that step was lost, or it was terminated and decided. If that
   * is not known in time, for example while Temporal is down, people get one reminder too many.
   */
  async function withoutOver(reminders: readonly DueMatter[]): Promise<readonly DueMatter[]> {
    const { isStillOpen } = deps;
    if (isStillOpen === undefined || reminders.length === 0) return reminders;
    const over = new Set<DueMatter>();
    let isLate = false;
    const asked = inTurns(reminders, ASKED_AT_ONCE, async (matter) => {
      if (!isLate && !(await isStillOpen(matter).catch(() => true))) over.add(matter);
    });
    await Promise.race([asked, pause(clock, ASK_MS)]);
    isLate = true;
    const open = reminders.filter((matter) => !over.has(matter));
    for (const { id } of reminders) if (!open.some((matter) => matter.id === id)) await matters.resolve(id);
    return open;
  }

  function levelAt({ content, openedAtMs }: DueMatter, nowMs: number): number {
    if (!isLasting(content)) return 0;
    const ageMs = nowMs - openedAtMs;
    const passed = deps.escalateAfterMs.filter((afterMs) => ageMs >= afterMs).length;
    const last = deps.escalateAfterMs.at(-1) ?? 0;
    return passed < deps.escalateAfterMs.length ? passed : passed + Math.max(0, Math.floor((ageMs - last) / DAY_MS));
  }

  function stepsOf(receiver: Receiver, due: readonly DueMatter[], nowMs: number): readonly Step[] {
    return due.flatMap((matter) => {
      const next = nextFor(receiver, matter, nowMs);
      if (next === undefined) return [];
      return [{ matter, next, notice: noticeOf(matter, { event: eventOf(next), level: next.level }, deps.places) }];
    });
  }

  const eventOf = ({ resolved, level }: SentTo): Exclude<Notice['event'], 'test'> =>
    resolved ? 'resolved' : level === 0 ? 'opened' : 'reminder';

  const causeOf = ({ content }: DueMatter, next: SentTo): string =>
    JSON.stringify([eventOf(next), content.kind, content.reason]);

  /** One cause parks hundreds of flows, one after the other: after the first few, people get them together. */
  function heldBackMs(receiver: Receiver, matter: DueMatter, nowMs: number): number {
    const next = nextFor(receiver, matter, nowMs);
    if (next === undefined || isAlone(receiver, eventOf(next))) return 0;
    const { sinceMs, count } = receiver.recent.get(causeOf(matter, next)) ?? { sinceMs: 0, count: 0 };
    return count < MOST_SINGLE ? 0 : Math.max(0, sinceMs + TOGETHER_MS - clock.monotonicMs());
  }

  function remember(receiver: Receiver, steps: readonly Step[]): void {
    const now = clock.monotonicMs();
    for (const { matter, next } of steps) {
      const cause = causeOf(matter, next);
      const before = receiver.recent.get(cause);
      if (before !== undefined && now - before.sinceMs < TOGETHER_MS) before.count += 1;
      else receiver.recent.set(cause, { sinceMs: now, count: 1 });
    }
  }

  /** Undefined: nothing now. */
  function nextFor(receiver: Pick<Receiver, 'id'>, matter: DueMatter, nowMs: number): SentTo | undefined {
    const before = matter.sent[receiver.id];
    if (matter.resolvedAtMs !== undefined) {
      // A receiver that got no notification of a matter needs none that it is resolved.
      const isMoot = before === undefined || before.resolved || nowMs - matter.resolvedAtMs > RESOLVED_WAITS_MS;
      return isMoot ? undefined : { ...before, resolved: true };
    }
    const level = levelAt(matter, nowMs);
    return before === undefined || before.level < level ? { level } : undefined;
  }

  /** When something has to be sent again; undefined: never. */
  function nextDueMs(matter: DueMatter, nowMs: number): number | undefined {
    const unsent = receivers.filter((receiver) => nextFor(receiver, matter, nowMs) !== undefined);
    if (unsent.length > 0) {
      const pauses = unsent.map((receiver) =>
        Math.max(0, receiver.pausedUntilMs - clock.monotonicMs(), heldBackMs(receiver, matter, nowMs)),
      );
      return nowMs + Math.min(...pauses);
    }
    if (matter.resolvedAtMs !== undefined || !isLasting(matter.content)) return undefined;
    const ageMs = nowMs - matter.openedAtMs;
    const last = deps.escalateAfterMs.at(-1) ?? 0;
    const days = Math.max(0, Math.floor((ageMs - last) / DAY_MS)) + 1;
    const nextMs = deps.escalateAfterMs.find((afterMs) => afterMs > ageMs) ?? last + days * DAY_MS;
    return matter.openedAtMs + nextMs;
  }

  async function send(receiver: Receiver, steps: readonly [Step, ...Step[]], nowMs: number): Promise<boolean> {
    const [first, ...rest] = steps.map(({ notice }) => notice);
    const problem = first && (await postNotice(receiver, [first, ...rest], { ...deps, nowMs }));
    const { format } = receiver;
    const about = { origin: new URL(receiver.url).origin, format, matters: steps.map(({ matter }) => matter.id) };
    if (problem === undefined) {
      receiver.failures = 0;
      remember(receiver, steps);
      log.info({ ...about, event: first?.event, level: first?.level }, 'people were notified');
      return true;
    }
    receiver.failures += 1;
    const pauseMs = growingPauseMs(PAUSE_MS, PAUSE_MOST_MS, receiver.failures - 1);
    receiver.pausedUntilMs = clock.monotonicMs() + pauseMs;
    log.warn({ ...about, problem, againInMs: pauseMs }, 'people could not be notified; trying again');
    return false;
  }

  const rounds = createRounds(clock, deps.everyMs ?? 1_000, () =>
    round().catch(async (error: unknown) => {
      log.warn(
        { error: error instanceof Error ? error.name : 'unknown' },
        'what to notify of cannot be read; trying again',
      );
      await heartbeat.beat(false, 'store');
    }),
  );

  return {
    start: () => rounds.start(),
    round: () => rounds.now(),
    async stop() {
      await rounds.stop();
      await deps.duty.leave();
    },
  };
}

/** A machine gets each matter by itself, and an incident is closed by its own key. */
const isAlone = ({ format }: NotifyTarget, event: Notice['event']): boolean =>
  format === 'generic' || (format === 'pagerduty' && event === 'resolved');

/** Machines get one matter at a time; people get all of them in one message, if many come at once. */
function grouped(receiver: NotifyTarget, steps: readonly Step[]): readonly (readonly [Step, ...Step[]])[] {
  const alone = (list: readonly Step[]) => list.map((step): [Step] => [step]);
  if (receiver.format === 'generic') return alone(steps);
  return (['opened', 'reminder', 'resolved'] as const).flatMap((event) => {
    const ofEvent = steps.filter(({ notice }) => notice.event === event);
    const [first, ...rest] = ofEvent;
    return first === undefined || isAlone(receiver, event) || ofEvent.length <= MOST_SINGLE
      ? alone(ofEvent)
      : [[first, ...rest]];
  });
}

/** The key under which it is recorded that a receiver was notified: it reveals nothing of the URL. */
const idOf = ({ url, routingKey }: NotifyTarget): string =>
  createHash('sha256').update(`${url} ${routingKey}`).digest('base64url').slice(0, 16);
