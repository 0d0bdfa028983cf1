import { createHash } from 'node:crypto';
import type { Resolve } from '../callbacks/index.js';
import { every, pause, systemClock, type Clock } from '../clock.js';
import type { NotifyTarget } from '../config/notify-urls.js';
import { isLasting } from '../protocol/matters.js';
import type { Duty } from '../store/duties.js';
import type { DueMatter, MatterStore, SentTo } from '../store/matters.js';
import { createHeartbeat, type HeartbeatDeps } from './heartbeat.js';
import { noticeOf, type Notice, type Places } from './notice.js';
import { postNotice } from './send.js';

export interface NotifyDeps extends Partial<HeartbeatDeps> {
  readonly matters: MatterStore;
  /** Whether it is this process's to notify, and not another one's. */
  readonly duty: Duty;
  readonly targets: readonly NotifyTarget[];
  /** `whsec_…` of ours; the first signs. */
  readonly secrets: () => readonly string[];
  /** When whoever has not acted is reminded, ms after it was opened; from the last one on once a day. */
  readonly escalateAfterMs: readonly number[];
  readonly places: Places;
  /** Asked before a reminder: false only where it is known that nothing is left to do. May take long, or for ever. */
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
const MATTERS_AT_ONCE = 100;
/** All reminders of a round wait so long for who knows whether they are due still, who is asked so much at a time. */
const ASK_MS = 2_000;
const ASKED_AT_ONCE = 10;
/** Of one pass, for each receiver: what is left for a slow one comes later, and no other one waits for it. */
const PASS_MS = 5_000;
/** More new matters than this are one message for people: a provider that is down parks hundreds of flows. */
const MOST_SINGLE = 10;
/** A receiver that fails is left alone for so long, each time for twice as long, up to the most. */
const PAUSE_MS = 2_000;
const PAUSE_MOST_MS = 300_000;
/** A receiver that is away for longer learns no more of what is over by then. */
const RESOLVED_WAITS_MS = DAY_MS;

interface Receiver extends NotifyTarget {
  readonly id: string;
  failures: number;
  pausedUntilMs: number;
}

/** What a receiver is to be told of one matter now. */
interface Step {
  readonly matter: DueMatter;
  readonly next: SentTo;
  readonly notice: Notice;
}

/**
 * Sends what the store says that people must know: once for each matter and receiver, by one process at a time. It needs
 * the store and nothing else: Temporal may be away.
 */
export function createNotifier(deps: NotifyDeps): Notifier {
  const { matters, clock = systemClock, log } = deps;
  const receivers = deps.targets.map((target): Receiver => ({
    ...target,
    id: idOf(target),
    failures: 0,
    pausedUntilMs: 0,
  }));
  const heartbeat = createHeartbeat({ ...deps, countOpen: () => matters.countOpen() });
  let running: Promise<void> | undefined;
  let stopTicking: (() => void) | undefined;

  async function round(): Promise<void> {
    const isOurs = await deps.duty.isOurs();
    if (isOurs && receivers.length > 0) await sendDue();
    // What could not be checked is said by whoever could not check it.
    await heartbeat.beat(isOurs);
  }

  async function sendDue(): Promise<void> {
    const { nowMs, matters: due } = await matters.due(MATTERS_AT_ONCE);
    const isReminder = (matter: DueMatter) => matter.resolvedAtMs === undefined && levelAt(matter, nowMs) > 0;
    // What is new waits for nothing.
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
        for (const steps of grouped(receiver, stepsOf(receiver, open, nowMs))) {
          const atMs = clock.monotonicMs();
          // A round may last: another process must not take the duty while this one sends.
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
   * A flow may have gone on without a word: its order to say so was lost, or it was terminated and decided. If that is not known in
   * time, as while Temporal is away, people are called once too often.
   */
  async function withoutOver(reminders: readonly DueMatter[]): Promise<readonly DueMatter[]> {
    const { isStillOpen } = deps;
    if (isStillOpen === undefined || reminders.length === 0) return reminders;
    const toAsk = [...reminders];
    const over = new Set<DueMatter>();
    const ask = async (): Promise<void> => {
      for (let matter = toAsk.shift(); matter !== undefined; matter = toAsk.shift()) {
        if (!(await isStillOpen(matter).catch(() => true))) over.add(matter);
      }
    };
    await Promise.race([Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask)), pause(clock, ASK_MS)]);
    toAsk.splice(0);
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
      const event = next.resolved ? 'resolved' : next.level === 0 ? 'opened' : 'reminder';
      return [{ matter, next, notice: noticeOf(matter, { event, level: next.level }, deps.places) }];
    });
  }

  /** Undefined: nothing now. */
  function nextFor(receiver: Pick<Receiver, 'id'>, matter: DueMatter, nowMs: number): SentTo | undefined {
    const before = matter.sent[receiver.id];
    if (matter.resolvedAtMs !== undefined) {
      // Who was told nothing of it has nothing to forget.
      const isMoot = before === undefined || before.resolved || nowMs - matter.resolvedAtMs > RESOLVED_WAITS_MS;
      return isMoot ? undefined : { ...before, resolved: true };
    }
    const level = levelAt(matter, nowMs);
    return before === undefined || before.level < level ? { level } : undefined;
  }

  /** When there is something to send again; undefined: never. */
  function nextDueMs(matter: DueMatter, nowMs: number): number | undefined {
    const unsent = receivers.filter((receiver) => nextFor(receiver, matter, nowMs) !== undefined);
    if (unsent.length > 0) {
      const pauses = unsent.map(({ pausedUntilMs }) => Math.max(0, pausedUntilMs - clock.monotonicMs()));
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
      log.info({ ...about, event: first?.event, level: first?.level }, 'people were notified');
      return true;
    }
    receiver.failures += 1;
    const pauseMs = Math.min(PAUSE_MOST_MS, PAUSE_MS * 2 ** (receiver.failures - 1));
    receiver.pausedUntilMs = clock.monotonicMs() + pauseMs;
    log.warn({ ...about, problem, againInMs: pauseMs }, 'people could not be notified; trying again');
    return false;
  }

  const tick = (): Promise<void> => {
    running ??= round()
      .catch(async (error: unknown) => {
        log.warn(
          { error: error instanceof Error ? error.name : 'unknown' },
          'what to notify of cannot be read; trying again',
        );
        await heartbeat.beat(false, 'store');
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  return {
    start() {
      stopTicking = every(clock, deps.everyMs ?? 1_000, () => void tick());
      void tick();
    },
    round: tick,
    async stop() {
      stopTicking?.();
      await running;
      await deps.duty.leave();
    },
  };
}

/** Machines are told one matter at a time; people, where many come at once, all of them in one message. */
function grouped(receiver: NotifyTarget, steps: readonly Step[]): readonly (readonly [Step, ...Step[]])[] {
  const alone = (list: readonly Step[]) => list.map((step): [Step] => [step]);
  if (receiver.format === 'generic') return alone(steps);
  return (['opened', 'reminder', 'resolved'] as const).flatMap((event) => {
    const ofEvent = steps.filter(({ notice }) => notice.event === event);
    const [first, ...rest] = ofEvent;
    // An incident is closed by its own key.
    const isOnePager = receiver.format === 'pagerduty' && event === 'resolved';
    return first === undefined || isOnePager || ofEvent.length <= MOST_SINGLE ? alone(ofEvent) : [[first, ...rest]];
  });
}

/** By what it is known whether a receiver was told: nothing of the URL can be read from it. */
const idOf = ({ url, routingKey }: NotifyTarget): string =>
  createHash('sha256').update(`${url} ${routingKey}`).digest('base64url').slice(0, 16);
