import type { FlowView } from '../../protocol/messages.js';
import type { FlowKind } from '../../protocol/vocabulary.js';
import type { GatewayClient } from '../gateway-client.js';
import type { SandboxControl, Executions } from './sandbox-control.js';

/** What a scene can do. */
export interface Stage {
  readonly reference: string;
  readonly flowId: string;
  readonly gateway: GatewayClient;
  readonly sandbox: SandboxControl;
  /** Kills the worker's process with SIGKILL; resolves when another one is ready. */
  readonly killWorker: () => Promise<void>;
  /** Prints a line about what is going on. */
  readonly say: (line: string) => void;
  /** Asks again and again until it holds. @throws Error where it does not in time */
  readonly until: <T>(what: string, ask: () => Promise<T | undefined>) => Promise<T>;
}

/** One flow of the demo: what is done to it, and how it must end all the same. */
export interface Scene {
  readonly kind: FlowKind;
  /** The last part of its reference. */
  readonly name: string;
  readonly title: string;
  readonly expected: 'completed' | 'refunded';
  /** What the sandbox must have executed for it, and nothing else; our own refund included. */
  readonly executes: Executions;
  /** Members of the flow's input that differ from all others. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Plays by itself, since it takes something away from everybody. */
  readonly alone?: true;
  /** Before the flow is started. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** While it runs. */
  readonly meanwhile?: (stage: Stage) => Promise<void>;
  /** Takes back what was done to others than this flow; comes last, whatever happened. */
  readonly tidy?: (stage: Stage) => Promise<void>;
  /** After its end: what is not as it should be besides the ending, as a sentence. */
  readonly flaw?: (stage: Stage, ended: FlowView) => Promise<string | undefined>;
}
