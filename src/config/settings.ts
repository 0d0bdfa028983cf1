import { FOUR_EYES_BY_DEFAULT } from '../protocol/four-eyes.js';
import { isLoopback } from '../protocol/loopback.js';
import { type Environment, SettingsError } from './environment.js';
import { DEVELOPMENT_TOKEN, tokensProblem } from './gateway-tokens.js';
import { targetsProblem } from './notify-urls.js';
import { OIDC, oidcOf } from './oidc.js';
import { doubtfulInProduction, refusedInProduction, unknownSettings } from './production.js';
import { isGiven, readSecretFiles } from './secret-settings.js';
import { isTrustworthy } from './setting-schemas.js';
import type { Settings } from './settings-shape.js';
import { FOUR_EYES } from './table/gateway.js';
import { SETTINGS } from './table/index.js';
import { readSettingGroup } from './table/setting.js';

/** The token that the sandbox of development knows. */
export const DEVELOPMENT_SERVICE_TOKEN = 'sandbox-token';

/** Each event without proof is kept for its flow; a provider that cannot prove itself posts less. */
const DEFAULT_UNPROVEN_LIMIT = 10;

/**
 * Settings from environment variables. All problems are reported at once.
 * @throws SettingsError
 */
export function readSettings(given: Environment): Settings {
  const { env, files: secretFiles, problems: ofFiles } = readSecretFiles(given);
  const problems = [...ofFiles];
  const problem = (sentence: string) => void problems.push(sentence);
  const read = readSettingGroup(SETTINGS, env, problem);
  const oidc = readSettingGroup(OIDC, env, problem);
  const fourEyes = readSettingGroup(FOUR_EYES, env, problem);

  const { gatewayHost, gatewayPort, inboundHost, inboundPort, gatewayRateLimit } = read;
  const serviceIsSandbox = read.serviceBaseUrl === undefined;
  const gatewayIsLocal = isLoopback(gatewayHost) && isLoopback(inboundHost);
  // A proxy in front of a gateway on loopback exposes it to the internet, and a PUBLIC_URL shows that.
  const publicIsLocal = read.publicUrl === undefined || isLoopback(new URL(read.publicUrl).hostname);
  // Assumed only for our own sandbox: an address of this machine may lead to a live service.
  const development = read.development ?? (serviceIsSandbox && gatewayIsLocal && publicIsLocal);
  const insideUrl = urlOf(gatewayHost, gatewayPort);

  const settings: Settings = {
    ...read,
    development,
    serviceIsSandbox,
    serviceBaseUrl: read.serviceBaseUrl ?? `http://127.0.0.1:${read.sandboxPort}`,
    serviceToken: read.serviceToken ?? (serviceIsSandbox ? DEVELOPMENT_SERVICE_TOKEN : ''),
    publicUrl: read.publicUrl ?? (inboundPort === undefined ? insideUrl : urlOf(inboundHost, inboundPort)),
    gatewayUrl: read.gatewayUrl ?? (inboundPort === undefined ? (read.publicUrl ?? insideUrl) : insideUrl),
    gatewayTokens: read.gatewayTokens ?? (development ? [DEVELOPMENT_TOKEN] : []),
    oidc: oidcOf(oidc, development, { isGiven: (name) => isGiven(env, name), problem }),
    unprovenRateLimit:
      read.unprovenRateLimit ??
      // 0 lifts the limit of tokens, never the limit of unproven events.
      Math.min(gatewayRateLimit || DEFAULT_UNPROVEN_LIMIT, DEFAULT_UNPROVEN_LIMIT),
    callbackAllowLoopback: read.callbackAllowLoopback ?? development,
    allowPlaintext: read.allowPlaintext ?? development,
    fourEyes: { ...fourEyes, actions: fourEyes.actions ?? (development ? [] : FOUR_EYES_BY_DEFAULT) },
    secretFiles,
    temporal: temporalVariables(env),
    doubts: unknownSettings(env),
  };
  checkTogether(settings, env, problem);
  if (problems.length > 0) throw new SettingsError(problems);
  return { ...settings, doubts: [...settings.doubts, ...doubtfulInProduction(settings)] };
}

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function temporalVariables(env: Environment): Readonly<Record<string, string>> {
  const ours = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined && entry[1] !== '';
  });
  return Object.fromEntries(ours);
}

const SAY_DEVELOPMENT = ' Set DEVELOPMENT=true if all of this is for development, on one machine.';

/** Checks that need several settings. */
function checkTogether(settings: Settings, env: Environment, problem: (sentence: string) => void): void {
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
  if (settings.serviceToken === '') {
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
  if (
    settings.databaseUrl !== undefined &&
    !isTrustworthy(settings.databaseUrl) &&
    settings.databaseTls === 'verified'
  ) {
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
