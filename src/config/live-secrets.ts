import type { z } from 'zod';
import { SettingsError } from './environment.js';
import { gatewayTokens, type GatewayToken, tokensProblem } from './gateway-tokens.js';
import { followFile, type Live, readSecretFile, type SecretFiles, type SecretSetting } from './secret-files.js';
import { type NotifyTarget, notifyTargets, operatorUrl, targetsProblem } from './notify-urls.js';
import { capability, createSettingReader, otlpHeaders, secrets, serviceToken } from './setting-schemas.js';
import type { Settings } from './settings-shape.js';

/** Secrets that may be replaced while a process runs: a `…_FILE` is read again when it changes. */
export interface LiveSecrets {
  readonly serviceToken: Live<string>;
  readonly gatewayTokens: Live<readonly GatewayToken[]>;
  readonly webhookSecrets: Live<readonly string[]>;
  readonly settlementSecrets: Live<readonly string[]>;
  readonly settlementCapability: Live<string | undefined>;
  readonly callbackSecrets: Live<readonly string[]>;
  readonly notifyTargets: Live<readonly NotifyTarget[]>;
  readonly notifySecrets: Live<readonly string[]>;
  readonly heartbeatUrl: Live<string | undefined>;
  readonly otlpHeaders: Live<Readonly<Record<string, string>>>;
}

/** What a process logs, together with the problem. */
export const BROKEN_SECRET = 'a secret cannot be read: the last good one counts';

export type SettingsOfSecrets = Pick<
  Settings,
  | 'serviceToken'
  | 'gatewayTokens'
  | 'webhookSecrets'
  | 'settlementSecrets'
  | 'settlementCapability'
  | 'callbackSecrets'
  | 'notifyTargets'
  | 'notifySecrets'
  | 'heartbeatUrl'
  | 'otlpHeaders'
  | 'development'
> & { readonly secretFiles: SecretFiles };

/** @param options.onBroken called with a sentence if a file cannot be used any more; the last good value stays valid */
export function followSecrets(
  settings: SettingsOfSecrets,
  options: { readonly onBroken: (problem: string) => void; readonly monotonicMs?: () => number },
): LiveSecrets {
  const { onBroken, monotonicMs = () => performance.now() } = options;

  const follow = <Value>(
    name: SecretSetting,
    present: Value,
    schema: z.ZodType<Value, string | undefined>,
    problemOf: (value: Value) => string | undefined = () => undefined,
  ): Live<Value> => {
    const path = settings.secretFiles[name];
    if (path === undefined) return () => present;
    const read = (): Value => {
      const reader = createSettingReader({ [name]: readSecretFile(name, path) });
      const value = reader.read(name, schema);
      const problem = value === undefined ? reader.problems.join(' ') : problemOf(value);
      if (value === undefined || problem !== undefined) throw new SettingsError([`${name}_FILE: ${problem ?? ''}`]);
      return value;
    };
    return followFile({ path, read, monotonicMs, onBroken: (error) => onBroken((error as Error).message) });
  };

  const notifySecrets = follow('NOTIFY_SECRETS', settings.notifySecrets, secrets('standard-webhooks'));
  return {
    serviceToken: follow('SERVICE_TOKEN', settings.serviceToken ?? '', serviceToken()),
    gatewayTokens: follow('GATEWAY_TOKENS', settings.gatewayTokens, gatewayTokens(), (tokens) =>
      tokensProblem(tokens, settings),
    ),
    webhookSecrets: follow('WEBHOOK_SECRETS', settings.webhookSecrets, secrets('any')),
    settlementSecrets: follow('SETTLEMENT_SECRETS', settings.settlementSecrets, secrets('standard-webhooks')),
    settlementCapability: follow('SETTLEMENT_CAPABILITY', settings.settlementCapability, capability()),
    callbackSecrets: follow('CALLBACK_SECRETS', settings.callbackSecrets, secrets('standard-webhooks')),
    notifyTargets: follow('NOTIFY_URLS', settings.notifyTargets, notifyTargets(), (targets) =>
      targetsProblem(targets, notifySecrets()),
    ),
    notifySecrets,
    heartbeatUrl: follow('HEARTBEAT_URL', settings.heartbeatUrl, operatorUrl()),
    otlpHeaders: follow('OTEL_EXPORTER_OTLP_HEADERS', settings.otlpHeaders, otlpHeaders()),
  };
}
