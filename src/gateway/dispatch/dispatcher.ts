import type { Logger } from 'pino';
import { every, systemClock, type Clock } from '../../clock.js';
import type { InboxBatch } from '../../store/inbox.js';
import { isOutage, isUnreachable } from '../../temporal/connection.js';
import { errorForLog } from '../http/refusal.js';
import { createDeliveredMarks } from './delivered-marks.js';
import { deliverBatch, type DeliverDeps } from './deliver-batch.js';
import { untilFlowHeals, untilTemporalAnswers, EVENTS_PER_SIGNAL } from './open-signals.js';
import type { Drain } from './drain.js';

export interface Dispatcher {
  /** Something may be due now. Never waits and never throws. */
  nudge(): void;
  /** A place for an event of this flow that is about to be stored; undefined if it has to wait its turn. */
  reserve(flowId: string, isProven: boolean): Place | undefined;
  start(): void;
  /** Resolves when nothing is in flight any more. */
  stop(): Promise<void>;
}

/** Held for one delivery, until one of its methods is called; freeing it twice does nothing. */
export interface Place {
  /** For how long the flow is to be leased to this gateway. */
  readonly leaseMs: number;
  /** @param leased all that the flow has waiting (`whole`), or only the first of it */
  deliver(leased: InboxBatch, extent: 'whole' | 'more came'): void;
  free(): void;
}

export interface DispatcherDeps extends DeliverDeps {
  readonly logger: Logger;
  readonly drain: Drain;
  /** How often it checks by itself, for rows that another gateway stored or a killed one left behind. @default 1000 */
  readonly everyMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock;
}

/** Flows at a time: with a proven event waiting, and with none. Forged events use no place of proven ones. */
const AT_ONCE = { proven: 32, unproven: 4 } as const;
type Pool = keyof typeof AT_ONCE;
const POOLS: readonly Pool[] = ['proven', 'unproven'];
const poolOf = (isProven: boolean): Pool => (isProven ? 'proven' : 'unproven');

/**
 * How long the events of a killed gateway wait for another one. A delivery that takes longer may happen twice, which is
 * harmless, because the flow takes each id once.
 */
const LEASE_MS = 10_000;

/**
 * If this many flows fail without a delivery in between, the cause is an outage and not one of them. If fewer fail,
 * that flow is busy or slow.
 */
const MANY_FLOWS = 5;

/** Wakes that fall into one of these are one. */
const TICK_MS = 10;

/**
 * Delivers from the inbox to the flows: leases what is due, one signal per flow at a time, in order. Each delivery has
 * a place of its own, so that a slow one delays only its own flow. Loses nothing when stopped.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { inbox, logger, clock = systemClock } = deps;
  const marks = createDeliveredMarks(deps);
  const inFlight = new Set<Promise<void>>();
  /** Places that are reserved, or with a delivery. */
  const held = { proven: 0, unproven: 0 };
  /** Something more may be due. */
  const more = { proven: false, unproven: false };
  let leasing: Promise<void> | undefined;
  /**
   * Counts the nudges, each of which means that something may have come. A delivery that sees the same count at its end
   * need not check again.
   */
  let nudges = 0;
  let stopped = true;
  let failures = 0;
  /** Flows whose delivery failed as in an outage, since the last successful delivery. */
  const failing = new Set<string>();
  let pausedUntilMs = 0;
  let stopLooking: (() => void) | undefined;
  const wakes = new Map<number, () => void>();

  const nudge = (): void => {
    nudges += 1;
    // What came may be for a flow whose lease ends with its mark.
    marks.flush();
    lookAgain();
  };

  const isPaused = () => clock.monotonicMs() < pausedUntilMs;
  const freePlaces = (pool: Pool) => Math.max(0, AT_ONCE[pool] - held[pool]);
  const wanted = (pool: Pool) => (more[pool] ? freePlaces(pool) : 0);
  const mayLook = () => !stopped && !isPaused() && POOLS.some((pool) => wanted(pool) > 0);

  const lookAgain = (): void => {
    if (stopped || isPaused()) return;
    for (const pool of POOLS) more[pool] = true;
    look();
  };

  const look = (): void => {
    if (!mayLook()) return;
    leasing ??= lease().finally(() => {
      leasing = undefined;
      look();
    });
  };

  /** The delivery that ends first checks for more. */
  const free = (pool: Pool): void => {
    held[pool] -= 1;
    look();
  };

  const lookIn = (ms: number): void => {
    // Far ones are found by the interval; thousands of timers are not needed for them.
    if (stopped || ms > (deps.everyMs ?? 1_000)) return;
    if (ms === 0) return lookAgain();
    const nowMs = clock.monotonicMs();
    const tick = Math.ceil((nowMs + ms) / TICK_MS);
    if (wakes.has(tick)) return;
    const wake = (): void => {
      wakes.delete(tick);
      lookAgain();
    };
    wakes.set(tick, clock.after(tick * TICK_MS - nowMs, wake));
  };

  async function lease(): Promise<void> {
    while (mayLook()) {
      const places = { proven: wanted('proven'), unproven: wanted('unproven') };
      for (const pool of POOLS) if (places[pool] > 0) more[pool] = false;
      const seen = nudges;
      try {
        const batches = await inbox.lease({ ...places, perFlow: EVENTS_PER_SIGNAL, leaseMs: LEASE_MS });
        for (const pool of POOLS) {
          const leased = batches.filter(({ hasProven }) => poolOf(hasProven) === pool).length;
          if (places[pool] > 0 && leased === places[pool]) more[pool] = true;
        }
        for (const batch of batches) begin(batch, seen);
      } catch (error) {
        logger.warn({ error: errorForLog(error) }, 'the inbox cannot be read; trying again');
        return;
      }
    }
  }

  function reserve(flowId: string, isProven: boolean): Place | undefined {
    const pool = poolOf(isProven);
    if (stopped || isPaused() || freePlaces(pool) <= 0) return undefined;
    const seen = nudges;
    held[pool] += 1;
    let isHeld = true;
    const freeOnce = (): void => {
      if (!isHeld) return;
      isHeld = false;
      free(pool);
    };
    return {
      leaseMs: LEASE_MS,
      free: freeOnce,
      deliver(leased, extent) {
        begin(leased, seen, extent === 'whole' ? undefined : () => inbox.waitingOf(leased.flowId, EVENTS_PER_SIGNAL));
        freeOnce();
      },
    };
  }

  /** @param reread for a batch whose flow has got more events since it was leased */
  function begin(batch: InboxBatch, seen: number, reread?: () => Promise<InboxBatch['rows']>): void {
    const pool = poolOf(batch.hasProven);
    held[pool] += 1;
    const delivery = deliver(batch, seen, reread).finally(() => {
      inFlight.delete(delivery);
      free(pool);
    });
    inFlight.add(delivery);
  }

  async function deliver(leased: InboxBatch, seen: number, reread?: () => Promise<InboxBatch['rows']>): Promise<void> {
    try {
      const batch = reread === undefined ? leased : { ...leased, rows: await reread() };
      const done = await deps.drain.within(() => deliverBatch(deps, batch));
      if (failures > 0) logger.info('Temporal answers again');
      failures = 0;
      failing.clear();
      if ('dueInMs' in done) return lookIn(done.dueInMs);
      // More of this flow may have come since it was leased.
      const mayHaveMore = () => nudges !== seen || batch.rows.length === EVENTS_PER_SIGNAL;
      marks.add(batch.flowId, done.signalled, () => mayHaveMore() && lookAgain());
      if (mayHaveMore()) marks.flush();
    } catch (error) {
      await giveBack(leased, error);
    }
  }

  /** Loses nothing; if Temporal or the store is down, nothing is tried before it had time to recover. */
  async function giveBack(batch: InboxBatch, error: unknown): Promise<void> {
    if (isOutage(error)) failing.add(batch.flowId);
    const outage = isUnreachable(error) || (isOutage(error) && failing.size >= MANY_FLOWS);
    const delayMs = outage ? untilTemporalAnswers(failures) : untilFlowHeals(batch.deferrals);
    const line = { flowId: batch.flowId, error: errorForLog(error), delayMs };
    if (!outage) logger.error(line, 'events could not be delivered to this flow; trying again');
    else if (!isPaused()) {
      // Batches that fail together are one failure.
      failures += 1;
      pausedUntilMs = clock.monotonicMs() + delayMs;
      logger.warn(line, 'events cannot be delivered; trying again');
    }
    lookIn(delayMs + 1);
    // If this also fails, the lease runs out.
    await inbox.defer(batch.flowId, delayMs).catch(() => undefined);
  }

  async function allDone(): Promise<void> {
    await leasing;
    await Promise.all(inFlight);
  }

  return {
    nudge,
    reserve,
    start() {
      stopped = false;
      stopLooking = every(clock, deps.everyMs ?? 1_000, nudge);
      nudge();
    },
    async stop() {
      stopped = true;
      stopLooking?.();
      for (const stopWake of wakes.values()) stopWake();
      await deps.drain.finish(allDone());
      await marks.finish();
    },
  };
}
