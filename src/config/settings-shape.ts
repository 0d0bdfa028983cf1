import type { FourEyes } from '../protocol/four-eyes.js';
import type { GatewayToken } from './gateway-tokens.js';
import type { OidcSettings } from './oidc.js';
import type { SecretFiles } from './secret-settings.js';
import type { SETTINGS } from './table/index.js';
import type { ValuesOf } from './table/setting.js';

type Given = ValuesOf<typeof SETTINGS>;

/** What depends on several settings. */
interface Derived {
  /**
   * `DEVELOPMENT`; if it is not set: the service is our own sandbox, and the gateway and PUBLIC_URL are on this
   * machine. Everything that is only for development depends on this alone.
   */
  readonly development: boolean;
  /** Our own sandbox is the service: SERVICE_BASE_URL is not set. The sandbox is then started as well. */
  readonly serviceIsSandbox: boolean;
  readonly serviceBaseUrl: string;
  readonly serviceToken: string;
  /** The public listener, as the service and the settlement provider reach it. */
  readonly publicUrl: string;
  /** The inside listener, as backends and people reach it: for links. */
  readonly gatewayUrl: string;
  readonly gatewayTokens: readonly GatewayToken[];
  /** Undefined: OIDC tokens are not accepted. */
  readonly oidc: OidcSettings | undefined;
  /** Which orders need a second person. */
  readonly fourEyes: FourEyes;
  /** Events without proof, and wrong tokens, per second for each address. 0: no limit. */
  readonly unprovenRateLimit: number;
  /** Callbacks may go to this machine, also over http. */
  readonly callbackAllowLoopback: boolean;
  readonly allowPlaintext: boolean;
  /** The files of the secrets. */
  readonly secretFiles: SecretFiles;
  /** Sentences about settings that can be meant, and are doubtful: for the log, and for `towline doctor`. */
  readonly doubts: readonly string[];
  /** The `TEMPORAL_*` variables, for `loadClientConnectConfig`. */
  readonly temporal: Readonly<Record<string, string>>;
}

/** Every setting of our processes. A member is what its row of the table says, unless it is derived. */
export type Settings = Omit<Given, keyof Derived> & Derived;

export type WebhookProfile = Settings['webhookProfile'];
export type SettlementTrust = Settings['settlementTrust'];

/** The secrets whose rows say `live`. */
export type LiveSecret = {
  [Member in keyof Given]: (typeof SETTINGS)[Member] extends { readonly live: true } ? Member : never;
}[keyof Given];

/** What must fit together when a secret is replaced. */
export type SettingsOfSecrets = Pick<Settings, LiveSecret | 'payloadKeys' | 'development' | 'secretFiles'>;
