import type { CallbackSender } from '../src/callbacks/index.js';
import type { ServiceClient } from '../src/client/index.js';
import type { Store } from '../src/store/store.js';
import type { RepeatSetting } from './outcomes.js';

/** What activities need from outside; everything that a test may want to replace. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly store: Store;
  /** Whose account at the service: part of every claim's key. */
  readonly account: string;
  /** The gateway as the service sees it. */
  readonly publicUrl: string;
  /** Timeout of a money POST, ms. */
  readonly serviceTimeoutMs: number;
  readonly serviceIsOnLoopback: boolean;
  readonly allowPlaintext: boolean;
  readonly repeatSettingOf: (operation: string) => RepeatSetting;
  /** A new unguessable owner of a claim. */
  readonly newOwner: () => string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicMs: () => number;
  readonly log: ActivityLog;
  /** Sends callbacks to callers. Undefined: those wait for a worker that can. */
  readonly callbacks?: CallbackSender;
}

export interface ActivityLog {
  info(detail: Readonly<Record<string, unknown>>, message: string): void;
  warn(detail: Readonly<Record<string, unknown>>, message: string): void;
}
