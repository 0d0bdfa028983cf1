import type { Logger } from 'pino';
import type { InboxBatch } from '../../store/inbox.js';
import { errorForLog } from '../http/error-for-log.js';
import { deliverBatch, type DeliverDeps } from './deliver-batch.js';
import { untilFlowHeals, untilTemporalAnswers } from './delays.js';
import type { Drain } from './drain.js';
import { isOutage } from '../../temporal/connection-outage.js';

export interface Dispatcher {
  /** Something may be due now. Never waits and never throws. */
  nudge(): void;
  start(): void;
  /** Resolves when nothing is in flight any more. */
  stop(): Promise<void>;
}

export interface DispatcherDeps extends DeliverDeps {
  readonly logger: Logger;
  readonly drain: Drain;
  /** How often it looks by itself, for what another gateway stored or a killed one left behind. @default 1000 */
  readonly everyMs?: number;
}

const FLOWS_AT_ONCE = 32;
/** A signal of more would be a large history event; a flow takes 10,001 events in 201 signals. */
const EVENTS_PER_SIGNAL = 50;
/**
 * How long the events of a killed gateway wait for another one. A delivery that takes longer may happen twice, which the
 * flow, taking each id once, does not mind.
 */
const LEASE_MS = 10_000;

/** From the inbox to the flows: leases what is due, one signal per flow at a time, in order. Loses nothing when stopped. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { inbox, logger } = deps;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = true;
  let failures = 0;
  let pausedUntilMs = 0;
  let interval: NodeJS.Timeout | undefined;
  const timers = new Set<NodeJS.Timeout>();

  const nudge = (): void => {
    if (stopped || performance.now() < pausedUntilMs) return;
    again = true;
    running ??= run().finally(() => {
      running = undefined;
      if (again) nudge();
    });
  };

  const nudgeIn = (ms: number): void => {
    // Far ones are found by the interval; thousands of timers are not needed for them.
    if (stopped || ms > (deps.everyMs ?? 1_000)) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      nudge();
    }, ms);
    timers.add(timer);
  };

  async function run(): Promise<void> {
    const mayGoOn = () => again && !stopped && performance.now() >= pausedUntilMs;
    while (mayGoOn()) {
      again = false;
      try {
        const batches = await inbox.lease({ flows: FLOWS_AT_ONCE, perFlow: EVENTS_PER_SIGNAL, leaseMs: LEASE_MS });
        if (batches.length === FLOWS_AT_ONCE || batches.some(({ rows }) => rows.length === EVENTS_PER_SIGNAL))
          again = true;
        await Promise.all(batches.map(deliver));
      } catch (error) {
        logger.warn({ error: errorForLog(error) }, 'the inbox cannot be read; trying again');
        return;
      }
    }
  }

  async function deliver(batch: InboxBatch): Promise<void> {
    try {
      const nextTryMs = await deps.drain.within(() => deliverBatch(deps, batch));
      if (failures > 0) logger.info('Temporal answers again');
      failures = 0;
      if (nextTryMs !== undefined) nudgeIn(nextTryMs);
    } catch (error) {
      await giveBack(batch, error);
    }
  }

  /** Nothing is lost, and where Temporal (or the store) is away nothing is tried before it had time to come back. */
  async function giveBack(batch: InboxBatch, error: unknown): Promise<void> {
    const outage = isOutage(error);
    const delayMs = outage ? untilTemporalAnswers(failures) : untilFlowHeals(batch.deferrals);
    const line = { flowId: batch.flowId, error: errorForLog(error), delayMs };
    if (!outage) logger.error(line, 'events could not be delivered to this flow; trying again');
    else if (performance.now() >= pausedUntilMs) {
      // Batches that fail together are one failure.
      failures += 1;
      pausedUntilMs = performance.now() + delayMs;
      logger.warn(line, 'events cannot be delivered; trying again');
    }
    again = false;
    nudgeIn(delayMs + 1);
    // Where this fails, too, the lease runs out.
    await inbox.defer(batch.flowId, delayMs).catch(() => undefined);
  }

  return {
    nudge,
    start() {
      stopped = false;
      interval = setInterval(nudge, deps.everyMs ?? 1_000);
      nudge();
    },
    async stop() {
      stopped = true;
      clearInterval(interval);
      for (const timer of timers) clearTimeout(timer);
      await deps.drain.finish(running);
    },
  };
}
