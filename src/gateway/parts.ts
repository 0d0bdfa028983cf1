import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { systemClock } from '../clock.js';
import { BROKEN_SECRET, followSecrets } from '../config/live-secrets.js';
import type { Settings } from '../config/settings-shape.js';
import type { Store } from '../store/store.js';
import { createCallbackHandles } from '../temporal/callback-handle.js';
import { createFlowReader } from '../temporal/flow-handle.js';
import { limitQuestions } from '../temporal/questions.js';
import type { ServeCards } from './cards/card-intake.js';
import type { Pace } from './dispatch/plugin.js';
import { createUnreadableFlows } from './dispatch/unreadable-flows.js';
import { createBudget, withinBudget } from './flows/budget.js';
import { createPageLimit } from './flows/charged-pages.js';
import { createReadings } from './flows/readings.js';
import { settledOwners } from './flows/start.js';
import { openKnownNetworks } from './http/known-networks.js';
import { createOwners } from './http/owners.js';
import { createRateLimit, UNPROVEN } from './http/rate-limit.js';
import { errorForLog } from './http/refusal.js';
import type { RequestLimits } from './http/server.js';
import { createCapabilities } from './inbound/capabilities.js';
import type { PeopleCodec } from './ops/codec.js';
import { createFlowStats } from './ops/flow-stats.js';
import { createMetrics } from './ops/metrics.js';
import { keepFresh } from './ops/remembered.js';
import { createUnprovenQuota } from './ops/unproven-quota.js';
import type { ServiceAccess } from './proxy/deps.js';

/** Shortest interval between two reads of the flow counts from the store. */
const STATS_READ_EVERY_MS = 5_000;
/** Prometheus gives a scrape ten seconds. */
const STATS_PATIENCE_MS = 5_000;
/** Temporal limits lists and counts together: the lists of callers must leave room for the counts of `/metrics`. */
const PAGES_PER_SECOND = 25;

export interface GatewayOptions {
  readonly settings: Settings;
  /** Belongs to the caller: it is not closed with the gateway. */
  readonly store: Store;
  /** Also belongs to the caller. Need not be connected yet: events are accepted while Temporal is down. */
  readonly client: Client;
  readonly codec: PeopleCodec;
  /** Exact origin of the Temporal UI, whose pages may read `/codec`. */
  readonly uiOrigin?: string;
  readonly logger: Logger;
  /** @default the system's clock */
  readonly nowMs?: () => number;
  /** Clock for rate limits and waits. @default performance.now */
  readonly monotonicMs?: () => number;
  /** For tests: the time limits of a sender. @default 5 s for headers, 10 s for a request */
  readonly requestLimits?: RequestLimits;
  /** @default `evt_` and a UUID of version 7: sorted by time, which suits the store's index */
  readonly newEventId?: () => string;
  /** Task queue of the flows that it starts. @default that of all flows */
  readonly taskQueue?: string;
  /** Starts the worker that sends cards from this process's memory. Undefined: no cards are accepted. */
  readonly serveCards?: ServeCards;
  /** Access to the service, for requests that pass through. Undefined: the service's interface is not offered. */
  readonly service?: ServiceAccess;
  /** Counters of this process's other work, shown with the gateway's own. */
  readonly workMetrics?: Registry;
  /** For tests. */
  readonly pace?: Pace & {
    /** The shortest intervals between two counts of flows and between two prints of metrics. */
    readonly countEveryMs?: number;
  };
}

/** What several rooms use. Nothing of it runs by itself: the loops belong to the rooms. */
export async function createParts(options: GatewayOptions) {
  const { settings, client, logger, taskQueue, pace = {} } = options;
  const { nowMs = systemClock.nowMs, monotonicMs = systemClock.monotonicMs } = options;
  const onBroken = (problem: string) => logger.error({ problem }, BROKEN_SECRET);
  const secrets = followSecrets(settings, { monotonicMs, onBroken });
  const budget = createBudget(monotonicMs);
  const store = withinBudget(options.store, budget);
  const askWorker = limitQuestions();
  const reader = createFlowReader(client, { askWorker });
  const unreadable = createUnreadableFlows(logger, () => performance.now());
  const mostBytes = settings.unprovenDiskBytes;
  const quota = createUnprovenQuota({ inbox: store.inbox, mostBytes, nowMs, logger });
  const freshMs = pace.countEveryMs;
  return {
    settings,
    secrets,
    store,
    client,
    logger,
    nowMs,
    monotonicMs,
    taskQueue,
    pace,
    budget,
    reader,
    unreadable,
    quota,
    callbacks: createCallbackHandles(client, { taskQueue, askWorker }),
    knownNetworks: await openKnownNetworks(store.networks, logger),
    ofUnknown: createRateLimit(settings.unprovenRateLimit * UNPROVEN, monotonicMs),
    owners: createOwners({ ownersOf: settledOwners({ store, reader }) }),
    capabilities: createCapabilities(store, settings, secrets.settlementCapability),
    readings: createReadings({ audit: store.audit, monotonicMs }),
    takePage: createPageLimit(PAGES_PER_SECOND, monotonicMs),
    metrics: createMetrics({
      inbox: store.inbox,
      figures: () => store.figures(),
      quota: { bytes: () => quota.bytes(), mostBytes },
      besides: options.workMetrics,
      unreadableFlows: () => unreadable.count(),
      flowStats: keepFresh({
        ask: createFlowStats({ client, reader, store, nowMs, timeScale: settings.timeScale, freshMs }),
        freshMs: freshMs ?? STATS_READ_EVERY_MS,
        patienceMs: STATS_PATIENCE_MS,
        monotonicMs,
        failed: (error) => logger.warn({ error: errorForLog(error) }, 'the flows could not be counted for /metrics'),
      }),
    }),
  };
}
