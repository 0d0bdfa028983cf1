import type { Transport } from './deliveries/deliver.js';
import type { Settings } from './settings.js';
import type { Timers } from './timers.js';
import type { SandboxLogger } from './logger.js';

/** Settings that options can preset; `settings.ts` documents them and their defaults. */
type FirstSettings = Partial<
  Pick<
    Settings,
    | 'repeatMode'
    | 'stepMs'
    | 'lateMs'
    | 'vocabulary'
    | 'errorBody'
    | 'numbersAsStrings'
    | 'webhookUrl'
    | 'webhookSecret'
    | 'webhookEvents'
    | 'webhookProfile'
    | 'callbackProfile'
    | 'liveOperations'
  >
>;

export interface SandboxOptions extends FirstSettings {
  /** Address to listen on. Anything but loopback is warned about: the control interface has no password. @default '127.0.0.1' */
  readonly host?: string;
  /** 0 takes any free port. @default 0 */
  readonly port?: number;
  /** File that holds all state; `:memory:` keeps nothing. */
  readonly dbPath: string;
  /** Bearer token that is accepted. @default 'sandbox-token' */
  readonly token?: string;
  /** URL for the simulated settlement provider. Absent: the sandbox itself, as if the integrator reported at once. */
  readonly settlementUrl?: string;
  /** Standard Webhooks secret (`whsec_…` or plain base64) of the settlement provider; absent: unsigned. */
  readonly settlementSecret?: string;
  /** Signs callbacks to callback URLs (`whsec_…`, plain base64 or any text); absent: bare fields, unsigned. */
  readonly callbackSecret?: string;
  /** Decides every random choice of faults and adversary. @default 1 */
  readonly seed?: number;
  /** True: a commit is on disk before its answer. False: it survives a killed process, not a power cut. @default true */
  readonly durable?: boolean;
  /** Milliseconds since 1970 by the wall clock; the sandbox's own clock starts from it. @default the system's clock */
  readonly wallNow?: () => number;
  /** @default the event loop's */
  readonly timers?: Timers;
  /** Posts webhooks and callbacks. @default over HTTP */
  readonly transport?: Transport;
  /** @default randomUUID */
  readonly createId?: () => string;
  readonly logger?: SandboxLogger;
}
