import { Context } from '@temporalio/activity';
import { pause, systemClock, every, type Clock } from '../src/clock.js';
import { settleWindowMs } from '../src/protocol/decisions.js';
import type { ActivityDeps } from './deps.js';
import type { Windows } from './types.js';

/** Slower and slower: soon after the start things change, an hour later they hardly do. Milliseconds, unscaled. */
const CADENCE_MS: readonly number[] = [2_000, 5_000, 15_000, 60_000, 300_000];
/** While a person is asked: nothing is urgent any more, and any change ends the wait. */
const PARKED_CADENCE_MS: readonly number[] = [15_000, 60_000, 300_000, 900_000, 3_600_000];
const TURNS_PER_STEP = 4;

const BETWEEN_MISSES_MS = 5_000;

export function untilNextMiss({ clock }: Pick<ActivityDeps, 'clock'>, timeScale: number): Promise<void> {
  return pause(clock ?? systemClock, Math.max(20, BETWEEN_MISSES_MS * timeScale));
}

/** How long to wait before the next try of this activity. */
export function nextTurnMs(timeScale: number, isParked = false): number {
  const cadence = isParked ? PARKED_CADENCE_MS : CADENCE_MS;
  const step = Math.floor((Context.current().info.attempt - 1) / TURNS_PER_STEP);
  const delayMs = cadence[step] ?? cadence.at(-1) ?? 0;
  return Math.max(20, delayMs * timeScale);
}

/** Since this activity was first scheduled, by the Temporal server's clock alone; ms. */
export function elapsedMs(): number {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return currentAttemptScheduledTimestampMs - scheduledTimestampMs;
}

/** What heartbeats carry to the next attempt of the same activity, by the context of the attempt that sent it. */
const carried = new WeakMap<Context, unknown>();

/**
 * Notes whether a record is missing in this attempt, and returns for how long it has been missing in every attempt up to
 * this one, by the Temporal server's clock alone; ms. A lookup that says neither begins anew: an outage is no miss.
 */
export function missingForMs(isMissing: boolean): number {
  const context = Context.current();
  const { currentAttemptScheduledTimestampMs: nowMs, heartbeatDetails } = context.info;
  const before = (heartbeatDetails as { readonly missingSinceMs?: number } | undefined)?.missingSinceMs;
  const noted = isMissing ? { missingSinceMs: before ?? nowMs } : {};
  carried.set(context, noted);
  context.heartbeat(noted);
  return isMissing ? nowMs - (before ?? nowMs) : 0;
}

/** Heartbeats per heartbeat timeout, so that one late heartbeat does not look like a dead worker. */
const BEATS = 4;

/**
 * Sends heartbeats while the work runs, if its policy wants that: another worker takes over soon after this one died.
 */
export async function withHeartbeat<T>(clock: Clock | undefined, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined) return work();
  const stop = every(clock ?? systemClock, heartbeatTimeoutMs / BEATS, () =>
    context.heartbeat(carried.get(context) ?? context.info.heartbeatDetails),
  );
  try {
    return await work();
  } finally {
    stop();
  }
}

/** Covers the claim before a POST and the write of its answer, so that the client's own timeout fires first. */
const ATTEMPT_MARGIN_MS = 30_000;
const SHORTEST_ATTEMPT_MS = 120_000;

/** The durations of a flow that the settings decide. */
export function windowsOf({ serviceTimeoutMs, serviceIsOnLoopback, limits }: ActivityDeps): Windows {
  return {
    settleMs: settleWindowMs(serviceTimeoutMs),
    postMs: serviceTimeoutMs,
    attemptMs: Math.max(SHORTEST_ATTEMPT_MS, serviceTimeoutMs + ATTEMPT_MARGIN_MS),
    ...(serviceIsOnLoopback ? limits : {}),
  };
}

/** Longest time from claim to first byte: half of the shortest time after which a flow gives up looking it up. */
const SEND_WITHIN_MS = 30_000;

/**
 * False if the first byte would leave too long after its claim. If the process was suspended meanwhile, its flow may
 * have looked up the POST in vain, and a person may have ordered another send.
 *
 * @param withinMs the longest time from now to the first byte, ms
 */
export function sendTimer(
  { monotonicMs, clock = systemClock }: ActivityDeps,
  withinMs: number = SEND_WITHIN_MS,
): () => boolean {
  const startedMs = monotonicMs();
  const startedAtMs = clock.nowMs();
  // A monotonic clock may stand still while the machine sleeps.
  const elapsedMs = () => Math.max(monotonicMs() - startedMs, clock.nowMs() - startedAtMs);
  return () => elapsedMs() < withinMs;
}

/** False once a lookup that was begun now says too little of this moment: its answer is awaited as long as any other. */
export const lookTimer = (deps: ActivityDeps): (() => boolean) =>
  sendTimer(deps, SEND_WITHIN_MS + deps.serviceTimeoutMs);
