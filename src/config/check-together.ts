import type { Environment } from './environment.js';
import { isLoopback } from './loopback.js';
import type { SettingReader } from './setting-reader.js';
import type { Settings } from './settings-shape.js';

/** What no setting can say alone. */
export function checkTogether(settings: Settings, env: Environment, { problem }: Pick<SettingReader, 'problem'>): void {
  const serviceUrl = new URL(settings.serviceBaseUrl);
  const serviceIsLocal = isLoopback(serviceUrl.hostname);
  const gatewayIsLocal = isLoopback(settings.gatewayHost);

  if (!serviceIsLocal && serviceUrl.protocol !== 'https:') {
    problem('SERVICE_BASE_URL must begin with https, since the service is not on this machine.');
  }
  if (settings.serviceToken !== undefined && settings.serviceTokenFile !== undefined) {
    problem('SERVICE_TOKEN and SERVICE_TOKEN_FILE are both set: keep one.');
  }
  if (settings.serviceToken === undefined && settings.serviceTokenFile === undefined) {
    problem('SERVICE_TOKEN (or SERVICE_TOKEN_FILE) is missing: the service takes no request without it.');
  }
  if (!serviceIsLocal && !env['PUBLIC_URL']) {
    problem('PUBLIC_URL is missing: the service must know where to send its callbacks.');
  }
  const publicUrl = new URL(settings.publicUrl);
  if (
    !isLoopback(publicUrl.hostname) &&
    publicUrl.protocol !== 'https:' &&
    env['PUBLIC_URL'] &&
    !settings.development
  ) {
    problem('PUBLIC_URL must begin with https: its paths carry what proves a callback.');
  }
  if (!gatewayIsLocal && settings.gatewayTokens.length === 0) {
    problem('GATEWAY_TOKENS is missing: the token of development is refused where GATEWAY_HOST is not this machine.');
  }
  if (!gatewayIsLocal && settings.gatewayTokens.some(({ secret }) => secret === 'dev-token')) {
    problem('GATEWAY_TOKENS has the token of development, which is refused where GATEWAY_HOST is not this machine.');
  }
  if (!settings.development && settings.payloadKeys === undefined) {
    problem('PAYLOAD_KEYS is missing: keys are made by themselves in development only.');
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
  if (settings.timeScale !== 1 && !serviceIsLocal) {
    problem('TIME_SCALE other than 1 is refused, since the service is not on this machine.');
  }
  if (settings.gatewayPort === settings.sandboxPort && settings.serviceIsSandbox && settings.gatewayPort !== 0) {
    problem('GATEWAY_PORT and SANDBOX_PORT are the same.');
  }
}
