import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { parseKeyring } from '../keys/index.js';
import { duplicateReference, unknownForAll } from './duplicate-reference.js';
import { serviceProfile } from './service-profile.js';
import { type Environment, SettingsError } from './environment.js';
import { DEVELOPMENT_TOKEN, gatewayTokens, tokensProblem } from './gateway-tokens.js';
import { isLoopback } from '../protocol/loopback.js';
import { FOUR_EYES_BY_DEFAULT } from '../protocol/four-eyes.js';
import { networks } from './networks.js';
import { escalation, notifyTargets, operatorUrl, targetsProblem } from './notify-urls.js';
import { readOidc } from './oidc.js';
import {
  capability,
  days,
  createSettingReader,
  type SettingReader,
  epochs,
  fixedPort,
  flag,
  fourEyesActions,
  fraction,
  isTrustworthy,
  httpUrl,
  ipAddress,
  maxAmounts,
  referencePrefixes,
  oneOf,
  otlpHeaders,
  buildId,
  perSecond,
  port,
  postgresUrl,
  seconds,
  serviceToken,
  secrets,
  wholeNumber,
  words,
  workerSlots,
} from './setting-schemas.js';
import { doubtfulInProduction, refusedInProduction, unknownSettings } from './production.js';
import { readSecretFiles, SECRET_SETTINGS } from './secret-files.js';
import { LOG_LEVELS, SETTLEMENT_TRUSTS, WEBHOOK_PROFILES, type Settings } from './settings-shape.js';

/** The token that the sandbox of development knows. */
export const DEVELOPMENT_SERVICE_TOKEN = 'sandbox-token';

const SCALE_OF_PRODUCTION = 1;
const DEFAULT_GATEWAY_PORT = 8400;
const DEFAULT_SANDBOX_PORT = 8401;
const DEFAULT_BODIES_KEPT_MS = 90 * 24 * 60 * 60 * 1_000;
/** Far above what flows need: a machine starts some fifty of them in a second. */
const DEFAULT_RATE_LIMIT = 200;
/** Each is kept for its flow; a provider that cannot prove itself posts less. */
const DEFAULT_UNPROVEN_LIMIT = 10;
/** After an hour, and after four. */
const ESCALATE_AFTER_MS: readonly number[] = [3_600_000, 14_400_000];
const MEGABYTE = 1_000_000;

/**
 * Settings from environment variables. All problems are reported at once.
 * @throws SettingsError
 */
export function readSettings(given: Environment): Settings {
  const { env, files: secretFiles, problems } = readSecretFiles(given);
  const reader = createSettingReader(env);
  const { read } = reader;
  problems.forEach((problem) => reader.problem(problem));

  const sandboxPort = read('SANDBOX_PORT', port(), DEFAULT_SANDBOX_PORT);
  const givenService = read('SERVICE_BASE_URL', httpUrl().optional());
  const serviceBaseUrl = givenService ?? `http://127.0.0.1:${sandboxPort}`;
  const gatewayHost = read('GATEWAY_HOST', z.string(), '127.0.0.1');
  const gatewayPort = read('GATEWAY_PORT', port(), DEFAULT_GATEWAY_PORT);
  const inboundHost = read('INBOUND_HOST', z.string(), '127.0.0.1');
  const inboundPort = read('INBOUND_PORT', port().optional());
  const gatewayIsLocal = isLoopback(gatewayHost) && isLoopback(inboundHost);
  const givenPublicUrl = read('PUBLIC_URL', httpUrl().optional());
  // A proxy in front of a gateway on loopback exposes it to the internet, and a PUBLIC_URL shows that.
  const publicIsLocal = givenPublicUrl === undefined || isLoopback(new URL(givenPublicUrl).hostname);
  // Assumed only for our own sandbox: an address of this machine may lead to a live service.
  const development =
    read('DEVELOPMENT', flag().optional()) ?? (givenService === undefined && gatewayIsLocal && publicIsLocal);

  const givenToken = read('SERVICE_TOKEN', serviceToken().optional());
  const settlementTrust = read('SETTLEMENT_TRUST', oneOf(SETTLEMENT_TRUSTS), 'corroborated');
  const settlementNetworks = read('SETTLEMENT_NETWORKS', networks().optional());
  const payloadKeys = read(
    'PAYLOAD_KEYS',
    z.string().refine(areKeys, 'must be comma-separated id:base64-of-32-bytes').optional(),
  );
  const gatewayRateLimit = read('GATEWAY_RATE_LIMIT', wholeNumber(1_000_000), DEFAULT_RATE_LIMIT);
  const timeScale = read('TIME_SCALE', fraction(), SCALE_OF_PRODUCTION);

  const insideUrl = urlOf(gatewayHost, gatewayPort);
  const values: Omit<Settings, 'doubts'> = {
    development,
    serviceIsSandbox: givenService === undefined,
    serviceBaseUrl,
    serviceToken: givenToken ?? (givenService === undefined ? DEVELOPMENT_SERVICE_TOKEN : undefined),
    secretFiles,
    serviceAccount: read('SERVICE_ACCOUNT', accountName(), 'default'),
    serviceTimeoutMs: read('SERVICE_TIMEOUT', seconds(600), 30_000),
    publicUrl: givenPublicUrl ?? (inboundPort === undefined ? insideUrl : urlOf(inboundHost, inboundPort)),
    gatewayUrl:
      read('GATEWAY_URL', httpUrl().optional()) ??
      (inboundPort === undefined ? (givenPublicUrl ?? insideUrl) : insideUrl),
    gatewayHost,
    gatewayPort,
    inboundHost,
    inboundPort,
    gatewayTokens: read('GATEWAY_TOKENS', gatewayTokens().optional()) ?? (development ? [DEVELOPMENT_TOKEN] : []),
    oidc: readOidc(reader, development),
    gatewayRateLimit,
    unprovenRateLimit:
      read('UNPROVEN_RATE_LIMIT', wholeNumber(1_000_000).optional()) ??
      // 0 lifts the limit of tokens, never the limit of unproven events.
      Math.min(gatewayRateLimit || DEFAULT_UNPROVEN_LIMIT, DEFAULT_UNPROVEN_LIMIT),
    unprovenDiskBytes: read('UNPROVEN_DISK_MB', wholeNumber(1_000_000), 64) * MEGABYTE,
    maxConnections: read('GATEWAY_MAX_CONNECTIONS', wholeNumber(1_000_000), 8_192) || Infinity,
    trustedProxies: read('TRUSTED_PROXIES', networks().optional()),
    sandboxHost: read('SANDBOX_HOST', z.string(), '127.0.0.1'),
    sandboxPort,
    webhookSecrets: read('WEBHOOK_SECRETS', secrets('any'), []),
    webhookProfile: read('WEBHOOK_PROFILE', oneOf(WEBHOOK_PROFILES), 'auto'),
    serviceSignsCallbacks: read('SERVICE_SIGNS_CALLBACKS', flag(), true),
    capabilityEpochs: read('CAPABILITY_EPOCHS', epochs(), [1]),
    settlementSecrets: read('SETTLEMENT_SECRETS', secrets('standard-webhooks').default([])) ?? [],
    settlementCapability: read('SETTLEMENT_CAPABILITY', capability().optional()),
    settlementTrust,
    settlementNetworks,
    callbackSecrets: read('CALLBACK_SECRETS', secrets('standard-webhooks'), []),
    callbackAllowLoopback: read('CALLBACK_ALLOW_LOOPBACK', flag(), development),
    notifyTargets: read('NOTIFY_URLS', notifyTargets(), []),
    notifySecrets: read('NOTIFY_SECRETS', secrets('standard-webhooks'), []),
    notifyEscalateAfterMs: read('NOTIFY_ESCALATE_AFTER', escalation().default(ESCALATE_AFTER_MS)) ?? ESCALATE_AFTER_MS,
    docsUrl: read('DOCS_URL', httpUrl().optional()),
    heartbeatUrl: read('HEARTBEAT_URL', operatorUrl().optional()),
    otlpEndpoint: read('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl().optional()),
    otlpHeaders: read('OTEL_EXPORTER_OTLP_HEADERS', otlpHeaders().optional()) ?? {},
    traceRatio: read('OTEL_TRACES_SAMPLER_ARG', fraction(), 1),
    duplicateReference: read('DUPLICATE_REFERENCE', duplicateReference().optional()) ?? unknownForAll,
    serviceProfile: read('SERVICE_PROFILE', serviceProfile(), []),
    duplicateWords: read('DUPLICATE_WORDS', words(), []),
    workerSlots: read('WORKER_SLOTS', workerSlots().optional()) ?? {},
    moneyPerSecond: read('MONEY_RATE_LIMIT', perSecond().optional()),
    workerBuildId: read('WORKER_BUILD_ID', buildId().optional()),
    workerProbeHost: read('WORKER_PROBE_HOST', z.string(), '127.0.0.1'),
    workerProbePort: read('WORKER_PROBE_PORT', port().optional()),
    workerMetricsHost: read('WORKER_METRICS_HOST', ipAddress(), '127.0.0.1'),
    workerMetricsPort: read('WORKER_METRICS_PORT', fixedPort().optional()),
    referencePrefixes: read('GATEWAY_REFERENCE_PREFIXES', referencePrefixes().optional()) ?? new Map(),
    maxAmounts: read('MAX_AMOUNTS', maxAmounts().optional()) ?? new Map(),
    fourEyes: {
      actions: read('FOUR_EYES', fourEyesActions().optional()) ?? (development ? [] : FOUR_EYES_BY_DEFAULT),
      above: read('FOUR_EYES_ABOVE', maxAmounts().optional()) ?? new Map(),
    },
    towlineHome: resolve(read('TOWLINE_HOME', z.string(), '.towline')),
    towlineCache: read('TOWLINE_CACHE', z.string().optional()) ?? join(homedir(), '.cache', 'towline'),
    databaseUrl: read('DATABASE_URL', postgresUrl().optional()),
    payloadKeys,
    eventBodiesKeptMs: read('EVENT_BODIES_KEPT_DAYS', days(), DEFAULT_BODIES_KEPT_MS),
    answersKeptMs: read('ANSWERS_KEPT_DAYS', days().optional()),
    allowPlaintext: read('ALLOW_PLAINTEXT', flag(), development),
    proxyTimeoutMs: read('PROXY_TIMEOUT', seconds(300), 10_000),
    timeScale,
    logLevel: read('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
    temporal: temporalVariables(env),
  };
  const databaseTls = read('DATABASE_TLS', oneOf(DATABASE_TLS).default('verified'));
  const known = new Set([...reader.names, ...Object.keys(SECRET_SETTINGS)]);
  const settings: Settings = { ...values, doubts: unknownSettings(env, known) };
  checkTogether(settings, env, reader, databaseTls);
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return { ...settings, doubts: [...settings.doubts, ...doubtfulInProduction(settings)] };
}

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

const accountName = () => z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits and . _ -');

function areKeys(text: string): boolean {
  try {
    parseKeyring(text);
    return true;
  } catch {
    return false;
  }
}

function temporalVariables(env: Environment): Readonly<Record<string, string>> {
  const ours = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined && entry[1] !== '';
  });
  return Object.fromEntries(ours);
}

const DATABASE_TLS = ['verified', 'unverified'] as const;

const SAY_DEVELOPMENT = ' Set DEVELOPMENT=true if all of this is for development, on one machine.';

/** Checks that need several settings. */
function checkTogether(
  settings: Settings,
  env: Environment,
  { problem }: Pick<SettingReader, 'problem'>,
  databaseTls: string | undefined,
): void {
  const serviceUrl = new URL(settings.serviceBaseUrl);
  const serviceIsLocal = isLoopback(serviceUrl.hostname);
  const gatewayIsLocal = isLoopback(settings.gatewayHost);
  const inboundIsLocal = isLoopback(settings.inboundHost);

  if (!serviceIsLocal && serviceUrl.protocol !== 'https:') {
    problem('SERVICE_BASE_URL must begin with https, since the service is not on this machine.');
  }
  const publicUrl = new URL(settings.publicUrl);
  if (settings.development && !(serviceIsLocal && gatewayIsLocal && inboundIsLocal && isLoopback(publicUrl.hostname))) {
    problem('DEVELOPMENT=true is refused if the service, the gateway or PUBLIC_URL is not on this machine.');
  }
  if (settings.serviceToken === undefined) {
    problem('SERVICE_TOKEN (or SERVICE_TOKEN_FILE) is missing: the service takes no request without it.');
  }
  if (!serviceIsLocal && !env['PUBLIC_URL']) {
    problem('PUBLIC_URL is missing: the service must know where to send its callbacks.');
  }
  if (
    !isLoopback(publicUrl.hostname) &&
    publicUrl.protocol !== 'https:' &&
    env['PUBLIC_URL'] &&
    !settings.development
  ) {
    problem('PUBLIC_URL must begin with https: its paths carry what proves a callback.');
  }
  // A worker needs no tokens; a gateway on loopback without any does not start.
  if (!gatewayIsLocal && settings.gatewayTokens.length === 0 && settings.oidc === undefined) {
    problem(
      'GATEWAY_TOKENS is missing: the token of development is refused where GATEWAY_HOST is not this machine. Set it, or ' +
        'OIDC_ISSUER.',
    );
  }
  const ofTokens = tokensProblem(settings.gatewayTokens, settings);
  if (ofTokens !== undefined) problem(ofTokens);
  if (!settings.development && settings.payloadKeys === undefined) {
    problem(`PAYLOAD_KEYS is missing: keys are made by themselves in development only.${SAY_DEVELOPMENT}`);
  }
  if (settings.databaseUrl !== undefined && !isTrustworthy(settings.databaseUrl) && databaseTls === 'verified') {
    problem(
      'DATABASE_URL must have sslmode=verify-full (and sslrootcert=, for a CA of your own), since the database is not on ' +
        'this machine: who sits in between could have money sent twice. DATABASE_TLS=unverified takes that risk.',
    );
  }
  // Node's own switch, which gets into deployments with a copied line.
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' && !settings.development) {
    problem(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is refused outside of development: no certificate would be checked, neither of the ' +
        "service nor of the database. Unset it, and name a CA of your own in Node's NODE_EXTRA_CA_CERTS.",
    );
  }
  if (settings.settlementTrust === 'signed' && settings.settlementSecrets.length === 0) {
    problem('SETTLEMENT_SECRETS is missing, without which SETTLEMENT_TRUST=signed can trust nothing.');
  }
  if (settings.settlementTrust === 'network' && settings.settlementNetworks === undefined) {
    problem('SETTLEMENT_NETWORKS is missing, without which SETTLEMENT_TRUST=network can trust nothing.');
  }
  if (
    (settings.webhookProfile === 'raw-hmac' || settings.webhookProfile === 'json-hmac') &&
    settings.webhookSecrets.length === 0
  ) {
    problem(`WEBHOOK_SECRETS is missing, without which WEBHOOK_PROFILE=${settings.webhookProfile} can trust nothing.`);
  }
  if (
    settings.webhookProfile === 'standard-webhooks' &&
    !settings.webhookSecrets.some((text) => text.startsWith('whsec_'))
  ) {
    problem(
      'WEBHOOK_SECRETS has no "whsec_" secret, without which WEBHOOK_PROFILE=standard-webhooks can trust nothing.',
    );
  }
  const ofTargets = targetsProblem(settings.notifyTargets, settings.notifySecrets);
  if (ofTargets !== undefined) problem(ofTargets);
  refusedInProduction(settings).forEach((sentence) => problem(sentence));
  if (settings.timeScale !== 1 && !serviceIsLocal) {
    problem('TIME_SCALE other than 1 is refused, since the service is not on this machine.');
  }
  if (settings.workerMetricsPort !== undefined && settings.workerMetricsPort === settings.workerProbePort) {
    problem('WORKER_METRICS_PORT and WORKER_PROBE_PORT are the same.');
  }
  if (settings.inboundPort === settings.gatewayPort && settings.gatewayPort !== 0) {
    problem(
      'GATEWAY_PORT and INBOUND_PORT are the same. In development, leave INBOUND_PORT out: one port serves both.',
    );
  }
  if (settings.gatewayPort === settings.sandboxPort && settings.serviceIsSandbox && settings.gatewayPort !== 0) {
    problem('GATEWAY_PORT and SANDBOX_PORT are the same.');
  }
}
