import type { FourEyes } from '../protocol/four-eyes.js';
import type { Queue } from '../protocol/task-queues.js';
import type { DuplicateReference } from './duplicate-reference.js';
import type { GatewayToken } from './gateway-tokens.js';
import type { OidcSettings } from './oidc.js';
import type { NetworkList } from './networks.js';
import type { NotifyTarget } from './notify-urls.js';
import type { SecretFiles } from './secret-files.js';

export const WEBHOOK_PROFILES = ['auto', 'standard-webhooks', 'raw-hmac', 'json-hmac', 'unsigned'] as const;
export type WebhookProfile = (typeof WEBHOOK_PROFILES)[number];

export const SETTLEMENT_TRUSTS = ['corroborated', 'signed', 'network'] as const;
export type SettlementTrust = (typeof SETTLEMENT_TRUSTS)[number];

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting of a process of ours. Each member is the camelCase of its variable (`…Ms`: given in seconds). */
export interface Settings {
  /**
   * `DEVELOPMENT`; if it is not set: the service is our own sandbox, and the gateway and PUBLIC_URL are on this machine.
   * What is only for development hangs on this, and on nothing else.
   */
  readonly development: boolean;
  /** Our own sandbox is the service: SERVICE_BASE_URL is not set. It is then started along. */
  readonly serviceIsSandbox: boolean;
  readonly serviceBaseUrl: string;
  readonly serviceToken: string | undefined;
  /** The files that secrets came from. */
  readonly secretFiles: SecretFiles;
  readonly serviceAccount: string;
  readonly serviceTimeoutMs: number;
  /** The gateway, as the service and the settlement provider reach it. */
  readonly publicUrl: string;
  readonly gatewayHost: string;
  readonly gatewayPort: number;
  readonly gatewayTokens: readonly GatewayToken[];
  /** Undefined: no tokens of an OIDC issuer are taken. */
  readonly oidc: OidcSettings | undefined;
  /** Requests per second for each token. 0: no limit. */
  readonly gatewayRateLimit: number;
  /** Events without proof, and wrong tokens, per second for each address. 0: no limit. */
  readonly unprovenRateLimit: number;
  /** Bytes of the store that events without proof may take. */
  readonly unprovenDiskBytes: number;
  /** Open connections, in all. */
  readonly maxConnections: number;
  /** Proxies in front of the gateway, which say where a request comes from. Undefined: no sender is believed. */
  readonly trustedProxies: NetworkList | undefined;
  readonly sandboxHost: string;
  readonly sandboxPort: number;
  readonly webhookSecrets: readonly string[];
  readonly webhookProfile: WebhookProfile;
  /** The service signs its callbacks for single flows, too: without a signature they are then not trusted. */
  readonly serviceSignsCallbacks: boolean;
  /** The first makes the capabilities in our URLs, all are accepted. Never empty. */
  readonly capabilityEpochs: readonly [number, ...number[]];
  readonly settlementSecrets: readonly string[];
  /** The part of the URL that the settlement provider alone knows. Undefined: derived from the store's key. */
  readonly settlementCapability: string | undefined;
  readonly settlementTrust: SettlementTrust;
  readonly settlementNetworks: NetworkList | undefined;
  readonly callbackSecrets: readonly string[];
  /** Callbacks may go to this very machine, also over http. */
  readonly callbackAllowLoopback: boolean;
  /** Who is notified of what a person must know. */
  readonly notifyTargets: readonly NotifyTarget[];
  readonly notifySecrets: readonly string[];
  /** Rising. */
  readonly notifyEscalateAfterMs: readonly number[];
  /** Where a sign of life is posted once a minute. Undefined: nowhere. */
  readonly heartbeatUrl: string | undefined;
  readonly duplicateReference: DuplicateReference;
  /** Further words by which the service says that it knows a reference, besides those of the contract. */
  readonly duplicateWords: readonly string[];
  /** Activities at a time of one worker, by task queue. */
  readonly workerSlots: Partial<Readonly<Record<Queue, number>>>;
  /** Sends of money per second, by all workers together. Undefined: no limit. */
  readonly moneyPerSecond: number | undefined;
  /** Undefined: a gateway answers probes on its own port alone. */
  readonly gatewayProbePort: number | undefined;
  readonly workerProbeHost: string;
  /** Undefined: a worker listens nowhere. */
  readonly workerProbePort: number | undefined;
  /** An IP address. */
  readonly workerMetricsHost: string;
  /** Undefined: a worker shows no metrics. */
  readonly workerMetricsPort: number | undefined;
  /** The largest amount of one flow, by currency or token in capitals. The others have no limit. */
  readonly maxAmounts: ReadonlyMap<string, string>;
  /** Which orders need a second person. */
  readonly fourEyes: FourEyes;
  /** Absolute path of the folder with all our state. */
  readonly towlineHome: string;
  readonly towlineCache: string;
  /** Where the store is that several machines share; a secret. Undefined: the embedded one in `towlineHome`. */
  readonly databaseUrl: string | undefined;
  /** For `parseKeyring`; undefined in development: keys are made in `towlineHome`. */
  readonly payloadKeys: string | undefined;
  readonly allowPlaintext: boolean;
  readonly proxyTimeoutMs: number;
  readonly timeScale: number;
  readonly logLevel: LogLevel;
  /** The `TEMPORAL_*` variables, for `loadClientConnectConfig`. */
  readonly temporal: Readonly<Record<string, string>>;
}
