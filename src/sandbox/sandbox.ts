import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { operations } from '../contract/index.js';
import { createIntegratorAccount } from './account/integrator.js';
import { createTokens } from './account/tokens.js';
import { createAnswers } from './answers.js';
import { createAuthenticate } from './validate.js';
import { addCheckoutPage, CHECKOUT_PATH } from './deposit/methods.js';
import { createClock, systemNow } from './clock.js';
import { addControlRoutes, CONTROL_PREFIX } from './control/endpoint.js';
import { ENDPOINTS } from './control/endpoints.js';
import { openDatabase, type Database, createKeyValue } from './database.js';
import { createAdversary } from './deliveries/adversary.js';
import { createAnnounce } from './deliveries/announce.js';
import { createDeliverJob, createTransport, type Transport } from './deliveries/deliver.js';
import { createDeliveries, DELIVERY_JOB } from './deliveries/deliveries.js';
import { createSign } from './deliveries/signing.js';
import { createFaultLog } from './faults/fault-log.js';
import { createFaultRules } from './faults/fault-rules.js';
import { createFaults, LATE_COMMIT_JOB } from './faults/faults.js';
import { createHistory } from './history.js';
import { createLiveOperations, addLiveRoutes } from './live.js';
import { createExecutions, createLedger } from './ledger.js';
import { createChance } from './random.js';
import { createScenarios } from './scenarios.js';
import { addOperationRoutes, createServer, isLoopback } from './routes.js';
import type { Refusal } from './refusal.js';
import { createScheduler, type JobKind } from './scheduler.js';
import { createService } from './service.js';
import { createSettings, defaultSettings, type Settings } from './settings.js';
import { systemTimers, type Timers } from './timers.js';
import { silentLogger, type SandboxLogger } from './logger.js';

/** Settings that options can preset; `settings.ts` documents them and their defaults. */
type FirstSettings = Partial<
  Pick<
    Settings,
    | 'repeatMode'
    | 'stepMs'
    | 'lateMs'
    | 'vocabulary'
    | 'errorBody'
    | 'numbersAsStrings'
    | 'webhookUrl'
    | 'webhookSecret'
    | 'webhookEvents'
    | 'webhookProfile'
    | 'callbackProfile'
    | 'liveOperations'
  >
>;

export interface SandboxOptions extends FirstSettings {
  /** Address to listen on. Anything but loopback is warned about: the control interface has no password. @default '127.0.0.1' */
  readonly host?: string;
  /** 0 takes any free port. @default 0 */
  readonly port?: number;
  /** File that holds all state; `:memory:` keeps nothing. */
  readonly dbPath: string;
  /** Bearer token that is accepted. @default 'sandbox-token' */
  readonly token?: string;
  /** URL for the simulated settlement provider. Absent: the sandbox itself, as if the integrator reported at once. */
  readonly settlementUrl?: string;
  /** Standard Webhooks secret (`whsec_…` or plain base64) of the settlement provider; absent: unsigned. */
  readonly settlementSecret?: string;
  /** Signs callbacks to callback URLs (`whsec_…`, plain base64 or any text); absent: bare fields, unsigned. */
  readonly callbackSecret?: string;
  /** Decides every random choice of faults and adversary. @default 1 */
  readonly seed?: number;
  /** True: a commit is on disk before its answer. False: it survives a killed process, not a power cut. @default true */
  readonly durable?: boolean;
  /** Milliseconds since 1970 by the wall clock; the sandbox's own clock starts from it. @default the system's clock */
  readonly wallNow?: () => number;
  /** @default the event loop's */
  readonly timers?: Timers;
  /** Posts webhooks and callbacks. @default over HTTP */
  readonly transport?: Transport;
  /** @default randomUUID */
  readonly createId?: () => string;
  readonly logger?: SandboxLogger;
}

export interface Sandbox {
  /** Base address, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and sending; unfinished work continues at the next start with the same file. */
  close(): Promise<void>;
}

/** The sandbox before it listens. */
export interface OpenSandbox {
  readonly server: FastifyInstance;
  readonly database: Database;
  /** Its address from now on: scheduled work continues. */
  begin(url: string): void;
  close(): Promise<void>;
}

/**
 * Starts the sandbox: the whole service, locally. It continues where its file stopped. Rejects if the port is taken
 * (`EADDRINUSE`) or the file cannot be opened.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, logger = silentLogger } = options;
  if (!isLoopback(host)) {
    logger.warn({ host }, 'THE SANDBOX IS OPEN TO THE NETWORK: anybody who reaches it controls it without a password');
  }
  const sandbox = openSandbox(options);
  let url: string;
  try {
    url = await sandbox.server.listen({ host, port });
  } catch (error) {
    sandbox.database.close();
    throw error;
  }
  sandbox.begin(url);
  logger.info({ url, dbPath: options.dbPath }, 'sandbox listens');
  return { url, port: Number(new URL(url).port), close: () => sandbox.close() };
}

/** The whole service without a socket. */
export function openSandbox(options: SandboxOptions): OpenSandbox {
  const { token = 'sandbox-token', durable = true, logger = silentLogger } = options;
  const { wallNow = systemNow, timers = systemTimers, createId = randomUUID } = options;
  const database = openDatabase({ path: options.dbPath, durable, timers });
  const notes = createKeyValue(database);
  const settings = createSettings({ notes, fromOptions: settingsOf(options) });
  const clock = createClock({ notes, wallNow });
  const chance = createChance(options.seed ?? 1);
  const kinds: Record<string, JobKind> = {};
  const scheduler = createScheduler({ database, clock, kinds, logger, timers });
  const history = createHistory({ database, clock });
  const ledger = createLedger({ database, clock });
  const executions = createExecutions({ database, clock, settings });
  const scenarios = createScenarios({ database });
  const adversary = createAdversary({ notes, chance, settings });
  const deliveries = createDeliveries({ database, clock, scheduler, adversary, settings, createId });
  const announce = createAnnounce({ deliveries, settings, chance });
  const answers = createAnswers({ settings, clock });
  const tokens = createTokens({ database, clock });
  const integrator = createIntegratorAccount({ notes, settings, clock, createId });
  const transport = options.transport ?? createTransport();
  const bodyOf = (refusal: Refusal, path: string) =>
    path.startsWith(CONTROL_PREFIX) ? refusal.body() : answers.bodyOf(refusal);
  const server = createServer({ logger, bodyOf, forThisMachine: isLoopback(options.host ?? '127.0.0.1') });
  const { settlementSecret } = options;
  const integratorId = () => integrator.id();
  const sign = createSign({ settings, notes, clock, wallNow, settlementSecret, integratorId });

  let url = '';
  const settlementUrl = () => options.settlementUrl ?? url + operations.reportSettlement.path;
  const checkoutUrl = (id: string) => `${url}${CHECKOUT_PATH}/${id}`;
  const books = { history, ledger, executions, scenarios, deliveries, announce, adversary };
  const core = { database, notes, clock, settings, scheduler, createId, ...books };
  const service = createService({ ...core, settlementUrl, checkoutUrl, tokens, integrator });
  const log = createFaultLog({ database, clock, logger });
  const rules = createFaultRules({ database, log, chance });
  const faults = createFaults({
    database,
    scheduler,
    rules,
    log,
    execute: (operation, call) => service.execute(operation, call),
  });

  Object.assign(kinds, service.jobs, {
    [LATE_COMMIT_JOB]: faults.job,
    [DELIVERY_JOB]: createDeliverJob({
      ...core,
      transport,
      sign,
      // The service takes any status that a settlement carries: a late SETTLING would undo a COMPLETED.
      isOrdered: ({ stream }) => stream === 'settlement' && options.settlementUrl === undefined,
    }),
  });
  const authenticate = createAuthenticate(token, tokens);
  addOperationRoutes(server, {
    handlers: service.handlers,
    authenticate,
    database,
    executions,
    scheduler,
    answers,
    respond: (exchange) => faults.respond(exchange),
  });
  const liveOperations = createLiveOperations({ ...core, ...service, tokens });
  addLiveRoutes(server, { operations: liveOperations, authenticate, database, settings, answers });
  addCheckoutPage(server, service);
  addControlRoutes(server, ENDPOINTS, { ...core, ...service, rules, log, transport, settlementUrl });

  return {
    server,
    database,
    begin(address) {
      url = address;
      scheduler.wake();
    },
    async close() {
      await server.close();
      transport.close();
      await scheduler.stop();
      database.close();
    },
  };
}

function settingsOf(options: SandboxOptions): Partial<Settings> {
  const known = Object.entries(options).filter(([name, value]) => name in defaultSettings && value !== undefined);
  return Object.fromEntries(known);
}
