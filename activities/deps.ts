import type { Clock } from '../src/clock.js';
import type { CallbackSender } from '../src/callbacks/index.js';
import type { FourEyes } from '../src/protocol/four-eyes.js';
import type { MaxAmounts } from '../src/flows/largest-amount.js';
import type { ServiceClient } from '../src/service-client/index.js';
import type { Store } from '../src/store/store.js';
import type { WorkMetrics } from '../src/protocol/metrics.js';
import type { LiveOperation } from '../src/protocol/live-operations.js';
import type { Repeat } from '../src/protocol/decisions.js';
import type { Windows } from './types.js';

/** Everything that activities need from outside, and that a test may want to replace. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly store: Store;
  /** The account at the service: part of every claim's key. */
  readonly account: string;
  /** The gateway as the service sees it. */
  readonly publicUrl: string;
  /** Of the capabilities in our callback URLs. @default the first */
  readonly capabilityEpoch?: number;
  /** Timeout of a money POST, ms. */
  readonly serviceTimeoutMs: number;
  readonly serviceIsOnLoopback: boolean;
  readonly allowPlaintext: boolean;
  /** The largest amount of one flow, by currency or token. @default no limits */
  readonly maxAmounts?: MaxAmounts;
  /** Which orders need a second person. @default none */
  readonly fourEyes?: FourEyes;
  readonly repeatSettingOf: (operation: string) => Repeat;
  /** What the service has beyond its interface, for flows that begin now. @default nothing */
  readonly live?: readonly LiveOperation[];
  /** A new unguessable owner of a claim. */
  readonly newOwner: () => string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicMs: () => number;
  /** For pauses and heartbeats. @default the system's */
  readonly clock?: Clock;
  readonly log: ActivityLog;
  /** @default counted nowhere */
  readonly metrics?: Pick<WorkMetrics, 'count'>;
  /** Sends callbacks to callers. Undefined: those wait for a worker that can. */
  readonly callbacks?: CallbackSender;
  /** Shorter limits of a money POST's attempt, for tests that kill workers. Only a service on loopback gets them. */
  readonly limits?: Pick<Windows, 'heartbeatMs' | 'startWithinMs'>;
}

export interface ActivityLog {
  info(detail: Readonly<Record<string, unknown>>, message: string): void;
  warn(detail: Readonly<Record<string, unknown>>, message: string): void;
  error(detail: Readonly<Record<string, unknown>>, message: string): void;
}
