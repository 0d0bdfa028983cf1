import type { z } from 'zod';
import { SettingsError } from './environment.js';
import { gatewayTokens, type GatewayToken, tokensProblem } from './gateway-tokens.js';
import { followFile, type Live, readSecretFile, type SecretFiles, type SecretSetting } from './secret-files.js';
import { refusedSecrets } from './production.js';
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
  | 'payloadKeys'
  | 'development'
> & { readonly secretFiles: SecretFiles };

/** @param options.onBroken called with a sentence if a file cannot be used any more; the last good value stays valid */
export function followSecrets(
  settings: SettingsOfSecrets,
  options: { readonly onBroken: (problem: string) => void; readonly monotonicMs?: () => number },
): LiveSecrets {
  const { onBroken, monotonicMs = () => performance.now() } = options;

  /** As they are now: one that is replaced must be good beside all others. */
  let present = settings;

  const follow = <Member extends keyof LiveSecrets>(
    name: SecretSetting,
    member: Member,
    schema: z.ZodType<SettingsOfSecrets[Member], string | undefined>,
    problemOf: (value: SettingsOfSecrets[Member]) => string | undefined = () => undefined,
  ): Live<SettingsOfSecrets[Member]> => {
    const path = settings.secretFiles[name];
    if (path === undefined) return () => settings[member];
    const read = (): SettingsOfSecrets[Member] => {
      const reader = createSettingReader({ [name]: readSecretFile(name, path) });
      const value = reader.read(name, schema);
      const replaced = { ...present, [member]: value };
      const problem =
        value === undefined ? reader.problems.join(' ') : (problemOf(value) ?? refusedSecrets(replaced).join(' '));
      if (value === undefined || problem !== '') throw new SettingsError([`${name}_FILE: ${problem}`]);
      present = replaced;
      return value;
    };
    return followFile({ path, read, monotonicMs, onBroken: (error) => onBroken((error as Error).message) });
  };

  const token = follow('SERVICE_TOKEN', 'serviceToken', serviceToken());
  const notifySecrets = follow('NOTIFY_SECRETS', 'notifySecrets', secrets('standard-webhooks'));
  return {
    serviceToken: (when) => token(when) ?? '',
    gatewayTokens: follow('GATEWAY_TOKENS', 'gatewayTokens', gatewayTokens(), (tokens) =>
      tokensProblem(tokens, settings),
    ),
    webhookSecrets: follow('WEBHOOK_SECRETS', 'webhookSecrets', secrets('any')),
    settlementSecrets: follow('SETTLEMENT_SECRETS', 'settlementSecrets', secrets('standard-webhooks')),
    settlementCapability: follow('SETTLEMENT_CAPABILITY', 'settlementCapability', capability()),
    callbackSecrets: follow('CALLBACK_SECRETS', 'callbackSecrets', secrets('standard-webhooks')),
    notifyTargets: follow('NOTIFY_URLS', 'notifyTargets', notifyTargets(), (targets) =>
      targetsProblem(targets, notifySecrets()),
    ),
    notifySecrets,
    heartbeatUrl: follow('HEARTBEAT_URL', 'heartbeatUrl', operatorUrl()),
    otlpHeaders: follow('OTEL_EXPORTER_OTLP_HEADERS', 'otlpHeaders', otlpHeaders()),
  };
}
