import type { FourEyes } from '../protocol/four-eyes.js';
import type { LiveOperation } from '../protocol/live-operations.js';
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

/** Every setting of our processes. Each member is the camelCase of its variable (`…Ms`: given in seconds). */
export interface Settings {
  /**
   * `DEVELOPMENT`; if it is not set: the service is our own sandbox, and the gateway and PUBLIC_URL are on this
   * machine. Everything that is only for development depends on this alone.
   */
  readonly development: boolean;
  /** Our own sandbox is the service: SERVICE_BASE_URL is not set. The sandbox is then started as well. */
  readonly serviceIsSandbox: boolean;
  readonly serviceBaseUrl: string;
  readonly serviceToken: string | undefined;
  /** The files of the secrets. */
  readonly secretFiles: SecretFiles;
  readonly serviceAccount: string;
  readonly serviceTimeoutMs: number;
  /** The public listener, as the service and the settlement provider reach it. */
  readonly publicUrl: string;
  /** The inside listener, as backends and people reach it: for links. */
  readonly gatewayUrl: string;
  readonly gatewayHost: string;
  readonly gatewayPort: number;
  readonly inboundHost: string;
  /** Undefined: `gatewayPort` serves webhooks and callbacks, too. */
  readonly inboundPort: number | undefined;
  readonly gatewayTokens: readonly GatewayToken[];
  /** Undefined: OIDC tokens are not accepted. */
  readonly oidc: OidcSettings | undefined;
  /** Requests per second for each token. 0: no limit. */
  readonly gatewayRateLimit: number;
  /** Events without proof, and wrong tokens, per second for each address. 0: no limit. */
  readonly unprovenRateLimit: number;
  /** Bytes of the store that events without proof may take. */
  readonly unprovenDiskBytes: number;
  /** Open connections, in all. */
  readonly maxConnections: number;
  /** Proxies in front of the gateway, whose report of a sender's address is trusted. Undefined: none is. */
  readonly trustedProxies: NetworkList | undefined;
  readonly sandboxHost: string;
  readonly sandboxPort: number;
  readonly webhookSecrets: readonly string[];
  readonly webhookProfile: WebhookProfile;
  /** The service signs its callbacks for single flows, too: without a signature they are then not trusted. */
  readonly serviceSignsCallbacks: boolean;
  /** New capabilities in our URLs use the first; all are accepted. Never empty. */
  readonly capabilityEpochs: readonly [number, ...number[]];
  readonly settlementSecrets: readonly string[];
  /** The part of the URL that only the settlement provider knows. Undefined: derived from the store's key. */
  readonly settlementCapability: string | undefined;
  readonly settlementTrust: SettlementTrust;
  readonly settlementNetworks: NetworkList | undefined;
  readonly callbackSecrets: readonly string[];
  /** Callbacks may go to this machine, also over http. */
  readonly callbackAllowLoopback: boolean;
  /** Receivers of notifications. */
  readonly notifyTargets: readonly NotifyTarget[];
  readonly notifySecrets: readonly string[];
  /** Rising. */
  readonly notifyEscalateAfterMs: readonly number[];
  /** Base URL of this repository's files, for people. Undefined: notifications name their pages by path alone. */
  readonly docsUrl: string | undefined;
  /** URL for a heartbeat once a minute. Undefined: none. */
  readonly heartbeatUrl: string | undefined;
  /** The collector that spans are sent to, by OTLP over HTTP. Undefined: nothing is traced. */
  readonly otlpEndpoint: string | undefined;
  /** Headers of each request to it; a secret. */
  readonly otlpHeaders: Readonly<Record<string, string>>;
  /** The share of the flows that is traced, 0 to 1. */
  readonly traceRatio: number;
  readonly duplicateReference: DuplicateReference;
  /** What the service has beyond its interface, and flows may use. */
  readonly serviceProfile: readonly LiveOperation[];
  /** Further words with which the service says that it knows a reference, in addition to those of the contract. */
  readonly duplicateWords: readonly string[];
  /** Activities at a time of one worker, by task queue. */
  readonly workerSlots: Partial<Readonly<Record<Queue, number>>>;
  /** Sends of money per second, by all workers together. Undefined: no limit. */
  readonly moneyPerSecond: number | undefined;
  /** The version of a worker in Temporal's worker deployment. Undefined: workers have no versions. */
  readonly workerBuildId: string | undefined;
  readonly workerProbeHost: string;
  /** Undefined: a worker listens nowhere. */
  readonly workerProbePort: number | undefined;
  /** An IP address. */
  readonly workerMetricsHost: string;
  /** Undefined: a worker shows no metrics. */
  readonly workerMetricsPort: number | undefined;
  /** The largest amount of one flow, by currency or token in capitals. The others have no limit. */
  readonly maxAmounts: ReadonlyMap<string, string>;
  /** What the references of a caller's name begin with. */
  readonly referencePrefixes: ReadonlyMap<string, string>;
  /** Which orders need a second person. */
  readonly fourEyes: FourEyes;
  /** Absolute path of the folder with all our state. */
  readonly towlineHome: string;
  readonly towlineCache: string;
  /** The store that several machines share; a secret. Undefined: the embedded one in `towlineHome`. */
  readonly databaseUrl: string | undefined;
  /** For `parseKeyring`; undefined in development: keys are made in `towlineHome`. */
  readonly payloadKeys: string | undefined;
  /** How long the bodies of events are kept. */
  readonly eventBodiesKeptMs: number;
  /** How long the answers of ended claims are kept. Undefined: for ever. */
  readonly answersKeptMs: number | undefined;
  readonly allowPlaintext: boolean;
  readonly proxyTimeoutMs: number;
  readonly timeScale: number;
  readonly logLevel: LogLevel;
  /** Sentences about settings that can be meant, and are doubtful: for the log, and for `towline doctor`. */
  readonly doubts: readonly string[];
  /** The `TEMPORAL_*` variables, for `loadClientConnectConfig`. */
  readonly temporal: Readonly<Record<string, string>>;
}
