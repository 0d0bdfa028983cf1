import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Client } from '@temporalio/client';
import { createCardActivities, type ActivityDeps } from '../../../activities/index.js';
import type { Settings } from '../../../src/config/settings-shape.js';
import { flowOf } from '../../../src/flows/index.js';
import type { FlowKind } from '../../../src/protocol/vocabulary.js';
import type { FlowWithMoney } from '../../../src/api/flow.js';
import { createCardVault } from '../../../src/gateway/cards/card-intake.js';
import { createDispatcher, type Dispatcher } from '../../../src/gateway/dispatch/dispatcher.js';
import { createIntake } from '../../../src/gateway/dispatch/intake.js';
import { createWebhookMatcher } from '../../../src/gateway/dispatch/webhook-matcher.js';
import { createWebhookMatch } from '../../../src/gateway/inbound/match-webhook.js';
import { createOpenSignals } from '../../../src/gateway/dispatch/open-signals.js';
import { createSettler, type Settler } from '../../../src/gateway/dispatch/settler.js';
import { createUnreadableFlows } from '../../../src/gateway/dispatch/unreadable-flows.js';
import { shownFlow } from '../../../src/gateway/flows/address.js';
import { createRateLimit } from '../../../src/gateway/http/rate-limit.js';
import { resolvedView } from '../../../src/gateway/flows/terminated-view.js';
import type { FlowAddress } from '../../../src/gateway/http/flow-path.js';
import { createServer } from '../../../src/gateway/http/server.js';
import { createAdmission } from '../../../src/gateway/inbound/admission.js';
import { createCapabilities } from '../../../src/gateway/inbound/capabilities.js';
import { createProfiles } from '../../../src/gateway/inbound/signatures.js';
import { addInboundRoutes } from '../../../src/gateway/inbound/routes.js';
import type { Store } from '../../../src/store/store.js';
import { createFlowReader, type FlowReader } from '../../../src/temporal/flow-handle.js';
import { signalFlow, startFlow, type StartedFlow } from '../../../src/temporal/start-flow.js';
import type { Process } from '../core/process.js';
import type { TemporalServer } from '../temporal/temporal-server.js';
import { GATEWAY_URL, PROVIDER_SECRET, SERVICE_SECRET } from './sandbox.js';
import { createDrain } from '../../../src/gateway/dispatch/drain.js';

export const ACCOUNT = 'sim';
export const SERVICE_TIMEOUT_MS = 30_000;

/** One gateway process: intake, dispatcher and settler as `startGateway` joins them, its routes without a socket. */
export interface SimGateway {
  readonly process: Process;
  readonly server: FastifyInstance;
  readonly client: Client;
  readonly store: Store;
  readonly reader: FlowReader;
  readonly dispatcher: Dispatcher;
  readonly settler: Settler;
  /** A caller's start: the input is parsed as the routes do, and the card taken out of it. */
  start(kind: FlowKind, body: Readonly<Record<string, unknown>>): Promise<StartedFlow>;
  /** A flow that was terminated, with its claims. */
  showTerminated(address: FlowAddress): Promise<FlowWithMoney>;
  /** Starts a flow again that was terminated. False: it runs. */
  resume(flowId: string): boolean;
}

/** Alarms of the gateway, for the invariants; everything else that it logs is left out. */
export type Alarm = (detail: object) => void;

const SETTINGS: Partial<Settings> = {
  development: true,
  serviceAccount: ACCOUNT,
  publicUrl: GATEWAY_URL,
  webhookProfile: 'auto',
  serviceSignsCallbacks: true,
  capabilityEpochs: [1],
  settlementTrust: 'corroborated',
  settlementNetworks: undefined,
  settlementCapability: undefined,
  webhookSecrets: [SERVICE_SECRET],
  settlementSecrets: [PROVIDER_SECRET],
  serviceTimeoutMs: SERVICE_TIMEOUT_MS,
  timeScale: 1,
  fourEyes: { actions: [], above: new Map() },
};

/** Seldom, so that hours of nothing cost little; what a gateway has to do at once it does at once. */
const DAEMON_EVERY_MS = 120_000;

export function createSimGateway(deps: {
  readonly process: Process;
  readonly client: Client;
  readonly store: Store;
  readonly temporal: TemporalServer;
  readonly activities: ActivityDeps;
  readonly newEventId: () => string;
  readonly alarm: Alarm;
}): SimGateway {
  const { process, client, store, temporal } = deps;
  const { clock } = process;
  const { inbox, matters } = store;
  const settings = SETTINGS as Settings;
  const nowMs = (): number => clock.nowMs();
  const logger = loggerOf(deps.alarm);
  const reader = createFlowReader(client);
  const openSignals = createOpenSignals();
  const drain = createDrain(client, clock);
  const shared = { inbox, matters, reader, openSignals, logger, nowMs, clock, drain, everyMs: DAEMON_EVERY_MS };
  const unreadable = createUnreadableFlows(logger, () => clock.monotonicMs());
  const dispatcher = createDispatcher({
    ...shared,
    unreadable,
    signal: (flowId, events) => signalFlow(client, flowId, events),
  });
  const matcher = createWebhookMatcher({
    ...shared,
    matchOf: createWebhookMatch(store),
    dispatcher,
    unreadable,
  });
  const settler = createSettler({ ...shared, duty: { isOurs: () => Promise.resolve(true) } });
  const server = createServer(logger);
  addInboundRoutes(server, {
    settings,
    store,
    capabilities: createCapabilities(store, settings),
    profiles: createProfiles(
      settings,
      { webhook: () => settings.webhookSecrets, settlement: () => settings.settlementSecrets },
      nowMs,
    ),
    newEventId: deps.newEventId,
    receive: createIntake({ inbox, dispatcher, matcher }),
    logger,
    admission: createAdmission(createRateLimit(0), () => clock.monotonicMs()),
    quota: { take: () => undefined },
  });

  const vault = createCardVault({ nowMs, after: (ms, work) => clock.after(ms, work) });
  const { queue } = vault;
  temporal.addWorker({ process, queue, activities: createCardActivities(deps.activities, vault), client });

  dispatcher.start();
  matcher.start();
  settler.start();
  return {
    process,
    server,
    client,
    store,
    reader,
    dispatcher,
    settler,
    async start(kind, body) {
      const definition = flowOf(kind);
      if (definition === undefined) throw new Error(`no flow kind ${kind}`);
      const { card, ...rest } = body;
      const kept = card === undefined ? undefined : vault.keep(card as never, 'shop');
      const input = definition.input.parse(
        kept === undefined ? rest : { ...rest, cardToken: kept.cardToken, masked: kept.masked },
      );
      return startFlow({ client, store }, kind, input);
    },
    showTerminated: async (address) =>
      resolvedView(await shownFlow(reader, address, { name: 'person', isOrder: true }), store),
    resume: (flowId) => temporal.resume(flowId),
  };
}

function loggerOf(alarm: Alarm): Logger {
  const nothing = (): void => undefined;
  const error = (detail: object): void => {
    if ('alarm' in detail) alarm(detail);
  };
  return { trace: nothing, debug: nothing, info: nothing, warn: nothing, error, fatal: nothing } as unknown as Logger;
}
