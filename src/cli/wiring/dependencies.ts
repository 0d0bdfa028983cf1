import { randomUUID } from 'node:crypto';
import { asyncLocalStorage } from '@temporalio/activity';
import { pino, type DestinationStream, type Logger } from 'pino';
import pinoPretty from 'pino-pretty';
import type { ActivityDeps, ActivityLog } from '../../../activities/deps.js';
import type { Repeat } from '../../protocol/decisions.js';
import type { WorkMetrics } from '../../protocol/metrics.js';
import { lookUpRecord } from '../../../activities/status-lookups.js';
import { operationNames, operations } from '../../contract/index.js';
import { callbackSecrets, createCallbackSender, secretsOfName } from '../../callbacks/index.js';
import { type ServiceClient, createServiceClient } from '../../service-client/index.js';
import {
  BROKEN_SECRET,
  followSecrets,
  isLoopback,
  type LiveSecrets,
  type Settings,
  type SettingsOfSecrets,
} from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { type Keyring, loadOrMakeKeyring, parseKeyring } from '../../keys/index.js';
import { openPostgresStore } from '../../store/postgres/open.js';
import { openStore } from '../../store/libsql/open.js';
import { createGatewayLogger, type ServiceAccess } from '../../gateway/index.js';
import { flowIdOfCallbacks } from '../../protocol/vocabulary.js';
import { traceCall, traceIdOf } from '../../tracing.js';
import type { ProcessName } from '../run-process.js';
import type { Home } from './load-settings.js';

export const moneyOperations = operationNames.filter((name) => operations[name].effect === 'money');

/** What the activities need, from the settings. */
export function activityDeps(parts: {
  readonly settings: Settings;
  readonly store: Store;
  readonly service: ServiceClient;
  readonly secrets: Pick<LiveSecrets, 'callbackSecrets'>;
  readonly log: ActivityLog;
  readonly metrics: WorkMetrics;
}): ActivityDeps {
  const { settings, store, service, secrets, log, metrics } = parts;
  const rules: Readonly<Record<string, Repeat>> = settings.duplicateReference;
  return {
    service,
    store,
    account: settings.serviceAccount,
    publicUrl: settings.publicUrl,
    capabilityEpoch: settings.capabilityEpochs[0],
    serviceTimeoutMs: settings.serviceTimeoutMs,
    serviceIsOnLoopback: isLoopback(new URL(settings.serviceBaseUrl).hostname),
    allowPlaintext: settings.allowPlaintext,
    maxAmounts: settings.maxAmounts,
    fourEyes: settings.fourEyes,
    repeatSettingOf: (operation) => rules[operation] ?? 'unknown',
    live: settings.serviceProfile,
    newOwner: () => randomUUID(),
    monotonicMs: () => performance.now(),
    log,
    metrics,
    callbacks: createCallbackSender({
      secrets: (owner) =>
        secretsOfName(owner, callbackSecrets({ ...settings, callbackSecrets: secrets.callbackSecrets() }, store)),
      allowLoopback: settings.callbackAllowLoopback,
    }),
  };
}

type ServiceSettings = Pick<
  Settings,
  'serviceBaseUrl' | 'serviceTimeoutMs' | 'duplicateWords' | 'serviceProfile' | 'timeScale'
>;
type TokenOfService = Pick<LiveSecrets, 'serviceToken'>;

/** The service of the settings, with its token, whose file is read again when the service refuses the token. */
export function openService(
  settings: ServiceSettings,
  secrets: TokenOfService,
  metrics?: Pick<WorkMetrics, 'serviceCall'>,
): ServiceClient {
  return openServiceAccess(settings, secrets, metrics).client;
}

/** The secrets of a process, which logs problems with their files. */
export function followSecretsOf(settings: SettingsOfSecrets, log: Pick<Logger, 'error'>): LiveSecrets {
  return followSecrets(settings, { onBroken: (problem) => log.error({ problem }, BROKEN_SECRET) });
}

/** The same for a gateway: with the service token, by which the proxy recognises existing integrations. */
export function openServiceAccess(
  settings: ServiceSettings,
  { serviceToken }: TokenOfService,
  metrics?: Pick<WorkMetrics, 'serviceCall'>,
): ServiceAccess & { readonly client: ServiceClient } {
  const client = createServiceClient({
    baseUrl: settings.serviceBaseUrl,
    token: () => Promise.resolve(serviceToken()),
    onUnauthorized: () => Promise.resolve(void serviceToken('now')),
    timeoutMs: settings.serviceTimeoutMs,
    duplicateWords: settings.duplicateWords,
    onCall: (call) => {
      metrics?.serviceCall(call);
      traceCall(`service ${call.operation}`, call.seconds, { 'towline.result': call.result });
    },
  });
  return {
    client,
    token: () => Promise.resolve(serviceToken()),
    lookUp: (operation, reference) =>
      lookUpRecord(
        { service: client, timeScale: settings.timeScale, live: settings.serviceProfile },
        operation,
        reference,
      ),
  };
}

/** The store of the settings: shared if DATABASE_URL is set, else the file in TOWLINE_HOME. */
export function openConfiguredStore(settings: Settings, home: Home, keyring: Keyring): Promise<Store> {
  const { databaseUrl } = settings;
  return databaseUrl === undefined
    ? openStore({ path: home.store, keyring })
    : openPostgresStore({ url: databaseUrl, keyring });
}

/** For people: shows nothing of the URL, which is a secret. */
export function placeOfStore(settings: Settings, home: Home): string {
  return settings.databaseUrl === undefined ? home.store : 'the database of DATABASE_URL';
}

/** The payload keys of the settings; in development, keys that are made at first use and kept in TOWLINE_HOME. */
export async function loadKeyring(settings: Pick<Settings, 'payloadKeys' | 'towlineHome'>): Promise<Keyring> {
  return settings.payloadKeys === undefined
    ? loadOrMakeKeyring(settings.towlineHome)
    : parseKeyring(settings.payloadKeys);
}

/** One line of JSON for each entry; on a terminal, lines for people. */
export function createProcessLogger(
  name: ProcessName,
  settings: Pick<Settings, 'logLevel' | 'doubts'>,
  isTerminal: boolean,
): Logger {
  const destination = isTerminal ? forPeople() : undefined;
  const options = { name, level: settings.logLevel, mixin: flowAtWork };
  const logger =
    name === 'gateway'
      ? createGatewayLogger(settings, destination, undefined, flowAtWork)
      : destination === undefined
        ? pino(options)
        : pino(options, destination);
  for (const doubt of settings.doubts) logger.warn({ doubt }, 'a setting is doubtful');
  return logger;
}

/** Adds to each log line of an activity its flow, and to each line about a flow the id of the flow's trace. */
function flowAtWork(line: object): { readonly flowId?: string; readonly trace_id?: string } {
  const workflowId = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
  const atWork = workflowId === undefined ? undefined : (flowIdOfCallbacks(workflowId) ?? workflowId);
  const flowId = 'flowId' in line && typeof line.flowId === 'string' ? line.flowId : atWork;
  return flowId === undefined ? {} : { flowId, trace_id: traceIdOf(flowId) };
}

function forPeople(): DestinationStream {
  return pinoPretty({ colorize: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true });
}
