import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { BROKEN_SECRET, followSecrets } from '../config/live-secrets.js';
import type { Settings } from '../config/settings-shape.js';
import { callbackSecrets } from '../callbacks/index.js';
import type { Store } from '../store/store.js';
import { createCallbackHandles } from '../temporal/callback-handle.js';
import { createFlowReader } from '../temporal/flow-handle.js';
import { limitQuestions } from '../temporal/questions.js';
import { signalFlow } from '../temporal/start-flow.js';
import { addCallbackRoutes } from './ops/callbacks.js';
import { createCardIntake, type ServeCards } from './cards/card-intake.js';
import { addCardRoutes } from './cards/take-card.js';
import { addCodecRoutes, type PeopleCodec } from './ops/codec.js';
import { createDispatcher } from './dispatch/dispatcher.js';
import { createIntake } from './dispatch/intake.js';
import { createOpenSignals } from './dispatch/open-signals.js';
import { createDuty } from '../store/duties.js';
import { createSettler } from './dispatch/settler.js';
import { createWebhookMatcher } from './dispatch/webhook-matcher.js';
import { createUnreadableFlows } from './dispatch/unreadable-flows.js';
import { addEventRoutes } from './ops/events.js';
import { addReplayRoutes } from './ops/replay.js';
import type { FlowOperationDeps } from './flows/deps.js';
import { createFlowWatch } from './flows/flow-watch.js';
import { createReadings } from './flows/readings.js';
import { addFlowRoutes } from './flows/routes.js';
import { addAuditRoute } from './ops/audit.js';
import { addCloseClaimsRoute } from './ops/close-claims.js';
import { addEraseRoute } from './ops/erasure.js';
import { addGiveRoute } from './ops/ownership.js';
import { addWhoAmIRoute } from './ops/whoami.js';
import { addHealthRoutes, createReadiness } from './ops/health.js';
import { createFlowStats } from './ops/flow-stats.js';
import { createMetrics, addMetricsRoute, countRequests } from './ops/metrics.js';
import { keepFresh, remembered } from './ops/remembered.js';
import { addConsoleRoutes } from './console/routes.js';
import { addReferenceRoutes } from './reference/routes.js';
import { createRoleRefusals } from './flows/give-order.js';
import { settledOwners } from './flows/start.js';
import { createOidcCheck } from './http/oidc.js';
import { createTokenCheck } from './http/bearer-token.js';
import { createBudget, withinBudget } from './flows/budget.js';
import { createOwners } from './http/owners.js';
import {
  closingSignal,
  listRoutes,
  type AddedRoute,
  closeServer,
  createServer,
  listen,
  PUBLIC_REQUEST_LIMITS,
  type RequestLimits,
} from './http/server.js';
import { openKnownNetworks } from './http/known-networks.js';
import { errorForLog } from './http/refusal.js';
import { createPageLimit } from './flows/charged-pages.js';
import { createRateLimit, UNPROVEN } from './http/rate-limit.js';
import { createCapabilities, inboundUrls } from './inbound/capabilities.js';
import { followWebhookSecrets } from './inbound/live-secrets.js';
import { createAdmission } from './inbound/admission.js';
import { createProfiles } from './inbound/signatures.js';
import { createRetention, RETENTION_DUTY_MS } from './ops/retention.js';
import { createUnprovenQuota } from './ops/unproven-quota.js';
import { createWebhookMatch } from './inbound/match-webhook.js';
import { addInboundRoutes } from './inbound/routes.js';
import type { ServiceAccess } from './proxy/deps.js';
import { createPayOrders } from './proxy/pay-orders.js';
import { addProxyRoutes } from './proxy/routes.js';
import { createServiceReads } from './proxy/service-reads.js';
import { createDrain } from './dispatch/drain.js';
import { systemClock } from '../clock.js';

/** Shortest interval between two reads of the flow counts from the store. */
const STATS_READ_EVERY_MS = 5_000;
/** Prometheus gives a scrape ten seconds. */
const STATS_PATIENCE_MS = 5_000;

/** How long the flows' events stay unsettled after the settling gateway died, plus a third of that. */
const SETTLING_DUTY_MS = 6_000;

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
  /**
   * For tests: how often dispatcher and settler check by themselves, the age at which a row is queried, and the
   * shortest intervals between two counts of flows and between two prints of metrics.
   */
  readonly pace?: {
    readonly dispatchEveryMs?: number;
    readonly settleEveryMs?: number;
    readonly settleAgeMs?: number;
    readonly countEveryMs?: number;
  };
}

export interface Gateway {
  /** Its URL: of the inside listener. */
  readonly url: string;
  /** Of the listener for webhooks and callbacks: the same unless INBOUND_PORT is set. */
  readonly publicUrl: string;
  /** URLs for the settlement provider and for the service: they contain capabilities. */
  readonly inbound: { readonly settlement?: string; readonly webhook: string };
  /** Every path that it answers, with `:parameters`. */
  readonly routes: readonly AddedRoute[];
  /** Accepts nothing new, finishes what is in flight. Events in the inbox stay there for the next start. */
  close(): Promise<void>;
}

/**
 * Starts the gateway: the service's own interface, webhooks and callbacks, flow operations, codec server, health.
 * @throws GatewayPortTakenError
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { settings, client, logger, pace = {} } = options;
  const nowMs = options.nowMs ?? systemClock.nowMs;
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const onBroken = (problem: string) => logger.error({ problem }, BROKEN_SECRET);
  const secrets = followSecrets(settings, { monotonicMs, onBroken });
  const budget = createBudget(monotonicMs);
  const store = withinBudget(options.store, budget);
  const askWorker = limitQuestions();
  const reader = createFlowReader(client, { askWorker });
  const openSignals = createOpenSignals();
  const { inbox, matters } = store;
  const unreadable = createUnreadableFlows(logger, () => performance.now());
  const metrics = createMetrics({
    inbox,
    figures: () => store.figures(),
    quota: { bytes: () => quota.bytes(), mostBytes: settings.unprovenDiskBytes },
    ...(options.workMetrics === undefined ? {} : { besides: options.workMetrics }),
    unreadableFlows: () => unreadable.count(),
    flowStats: keepFresh({
      ask: createFlowStats({ client, reader, store, nowMs, timeScale: settings.timeScale, freshMs: pace.countEveryMs }),
      freshMs: pace.countEveryMs ?? STATS_READ_EVERY_MS,
      patienceMs: STATS_PATIENCE_MS,
      monotonicMs,
      failed: (error) => logger.warn({ error: errorForLog(error) }, 'the flows could not be counted for /metrics'),
    }),
  });
  const drain = createDrain(client);
  const { taskQueue } = options;
  const callbacks = createCallbackHandles(client, { taskQueue, askWorker });
  const tellCaller = async (flowId: string) => {
    const told = await callbacks.contradict(flowId);
    if (told === 'no-answer') throw new Error('no worker says whether the flow has callbacks');
  };
  const events = { inbox, matters, drain, logger, tellCaller };
  const dispatcher = createDispatcher({
    ...events,
    reader,
    openSignals,
    unreadable,
    signal: (flowId, events) => signalFlow(client, flowId, events),
    nowMs,
    dispatched: metrics.dispatched,
    ...(pace.dispatchEveryMs === undefined ? {} : { everyMs: pace.dispatchEveryMs }),
  });
  const matcher = createWebhookMatcher({
    ...events,
    matchOf: createWebhookMatch(store),
    dispatcher,
    unreadable,
    ...(pace.dispatchEveryMs === undefined ? {} : { everyMs: pace.dispatchEveryMs }),
  });
  const settling = createDuty(store.duties, 'settling', SETTLING_DUTY_MS, monotonicMs);
  const clearing = createDuty(store.duties, 'clearing', RETENTION_DUTY_MS, monotonicMs);
  const settler = createSettler({
    ...events,
    duty: settling,
    reader,
    openSignals,
    nowMs,
    ...(pace.settleEveryMs === undefined ? {} : { everyMs: pace.settleEveryMs }),
    ...(pace.settleAgeMs === undefined ? {} : { ageMs: pace.settleAgeMs }),
  });
  const retention = createRetention({ ...options.store, keptMs: settings, duty: clearing, nowMs, logger });
  const quota = createUnprovenQuota({ inbox, mostBytes: settings.unprovenDiskBytes, nowMs, logger });
  const knownNetworks = await openKnownNetworks(store.networks, logger);
  const ofUnknown = createRateLimit(settings.unprovenRateLimit * UNPROVEN, monotonicMs);
  const tokens = createTokenCheck({
    tokens: secrets.gatewayTokens,
    oidc: settings.oidc && createOidcCheck(settings.oidc, monotonicMs),
    knownNetworks,
    owners: createOwners({ ownersOf: settledOwners({ store, reader }) }),
    ofKnown: createRateLimit(settings.gatewayRateLimit, monotonicMs),
    ofUnknown,
    refused: createRoleRefusals({ store, logger, monotonicMs }),
  });
  const webhookSecrets = followWebhookSecrets({
    settings,
    fromSetting: secrets.webhookSecrets,
    deployment: store.deployment,
    nowMs,
    monotonicMs,
    logger,
  });
  await webhookSecrets.refresh();
  const capabilities = createCapabilities(store, settings, secrets.settlementCapability);
  const readings = createReadings({ audit: store.audit, monotonicMs });
  // Temporal limits lists and counts together: the lists of callers must leave room for the counts of `/metrics`.
  const takePage = createPageLimit(25, monotonicMs);
  const cards = createCardIntake({ serve: options.serveCards, logger, nowMs });

  const { inboundPort } = settings;
  const addServer = (requestLimits?: RequestLimits) =>
    createServer(logger, { ...settings, knownNetworks }, options.requestLimits ?? requestLimits);
  // Who may post events cannot reach what callers use, and the other way round.
  const server = addServer();
  const publicServer = inboundPort === undefined ? server : addServer(PUBLIC_REQUEST_LIMITS);
  const servers = [...new Set([server, publicServer])];
  const listed = servers.map((one) => listRoutes(one));
  const closing = closingSignal(server);
  for (const one of servers) countRequests(one, metrics);
  addInboundRoutes(publicServer, {
    settings,
    store,
    capabilities,
    refreshSecrets: webhookSecrets.refresh,
    profiles: createProfiles(
      settings,
      {
        webhook: webhookSecrets.inForce,
        settlement: secrets.settlementSecrets,
      },
      nowMs,
    ),
    newEventId: options.newEventId ?? (() => `evt_${uuidv7()}`),
    receive: createIntake({ inbox, dispatcher, matcher }),
    acknowledged: metrics.acknowledged,
    admission: createAdmission(ofUnknown, monotonicMs, knownNetworks),
    quota,
    logger,
  });
  const flowDeps: FlowOperationDeps = {
    settings,
    client,
    store,
    lookUp: options.service?.lookUp,
    reader,
    watch: createFlowWatch(reader, closing),
    takePage,
    tokens,
    settler,
    cards,
    readings,
    budget,
    logger,
    nowMs,
    monotonicMs,
    closing,
    ...(taskQueue === undefined ? {} : { taskQueue }),
  };
  addFlowRoutes(server, flowDeps);
  addEraseRoute(server, flowDeps);
  addCloseClaimsRoute(server, flowDeps);
  addGiveRoute(server, flowDeps);
  if (options.service !== undefined) {
    addProxyRoutes(server, {
      ...flowDeps,
      service: options.service,
      reads: createServiceReads(options.service, monotonicMs),
      recordPayOrder: createPayOrders(store.audit),
      newReference: () => `tw-${randomUUID()}`,
    });
  }
  addCardRoutes(server, { cards, tokens });
  const eventDeps = { store, settings, tokens, reader, dispatcher, readings, takePage, budget, logger };
  addEventRoutes(server, eventDeps);
  addReplayRoutes(server, eventDeps);
  addCallbackRoutes(server, {
    store,
    tokens,
    reader,
    logger,
    callbacks,
    secrets: () => callbackSecrets({ ...settings, callbackSecrets: secrets.callbackSecrets() }, store),
    readings,
    monotonicMs,
    takePage,
  });
  addCodecRoutes(server, { codec: options.codec, store, tokens, settings, monotonicMs, uiOrigin: options.uiOrigin });
  addAuditRoute(server, { store, tokens, takePage });
  addWhoAmIRoute(server, { tokens });
  const readiness = createReadiness({ store, client, monotonicMs, logger });
  for (const one of servers) addHealthRoutes(one, readiness);
  const print = remembered(monotonicMs, () => metrics.print(), pace.countEveryMs);
  addMetricsRoute(server, { print, tokens });
  const routes = () => uniqueRoutes(listed.flat());
  addReferenceRoutes(server, { ...settings, routes });
  addConsoleRoutes(server, { uiUrl: settings.temporal['TEMPORAL_UI_URL'], namespace: client.options.namespace });

  const url = await listen(server, { host: settings.gatewayHost, port: settings.gatewayPort, setting: 'GATEWAY_PORT' });
  const publicUrl =
    inboundPort === undefined ? url : await listenToo(publicServer, settings.inboundHost, inboundPort, server);
  dispatcher.start();
  matcher.start();
  settler.start();
  retention.start();
  quota.start();
  return {
    url,
    publicUrl,
    inbound: inboundUrls(settings.publicUrl, capabilities),
    routes: routes(),
    async close() {
      const served = Promise.all(servers.map((one) => closeServer(one, settings.serviceTimeoutMs))).then(
        () => undefined,
      );
      await Promise.all([served, cards.close(served)]);
      await Promise.all([matcher.stop(), dispatcher.stop(), settler.stop(), retention.stop(), quota.stop()]);
      await Promise.all([settling.leave(), clearing.leave()]);
    },
  };
}

/** Both listeners answer probes. */
const uniqueRoutes = (routes: readonly AddedRoute[]): readonly AddedRoute[] => [
  ...new Map(routes.map((route) => [`${route.method} ${route.url}`, route])).values(),
];

/** @throws GatewayPortTakenError: then the other listener is closed, too */
async function listenToo(publicServer: FastifyInstance, host: string, port: number, server: FastifyInstance) {
  try {
    return await listen(publicServer, { host, port, setting: 'INBOUND_PORT' });
  } catch (error) {
    await server.close();
    throw error;
  }
}
