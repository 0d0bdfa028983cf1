import { SECRET_SETTINGS } from '../../src/config/table/index.js';

/** Of gateways and workers alike. A gateway needs the service's token: for reads, account operations and cards. */
const OF_BOTH = [
  'DATABASE_URL',
  'PAYLOAD_KEYS',
  'SERVICE_TOKEN',
  'CALLBACK_SECRETS',
  'NOTIFY_URLS',
  'NOTIFY_SECRETS',
  'HEARTBEAT_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/** Which secrets a process needs; it gets no other one. */
export const SECRETS_OF = {
  gateway: [...OF_BOTH, 'GATEWAY_TOKENS', 'WEBHOOK_SECRETS', 'SETTLEMENT_SECRETS', 'SETTLEMENT_CAPABILITY'],
  worker: OF_BOTH,
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ProcessWithSecrets = keyof typeof SECRETS_OF;

export const isSecret = (name: string): boolean => SECRET_SETTINGS.has(name);

/** The environment without the secrets that the process does not need. */
export const withOwnSecrets = (of: ProcessWithSecrets, env: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !isSecret(name) || SECRETS_OF[of].some((own) => own === name)),
  );
