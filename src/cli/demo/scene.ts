import type { DemoScene } from '../../flows/flow.js';
import { flowOf } from '../../flows/index.js';
import type { Flow } from '../../protocol/gateway-json.js';
import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import type { GatewayClient } from '../gateway-client.js';
import type { SandboxControl } from './sandbox-control.js';

/** The actions of a scene. */
export interface Stage {
  readonly reference: string;
  readonly flowId: string;
  readonly gateway: GatewayClient;
  readonly sandbox: SandboxControl;
  /** Kills the worker's process with SIGKILL; resolves when another one is ready. */
  readonly killWorker: () => Promise<void>;
  /** Prints a progress line. */
  readonly say: (line: string) => void;
  /** Asks again and again until it holds. @throws Error if it does not in time */
  readonly until: <T>(what: string, ask: () => Promise<T | undefined>) => Promise<T>;
}

/** One flow of the demo: what is done to it, and how it must end nevertheless. */
export interface Scene extends DemoScene {
  readonly kind: FlowKind;
  /** Plays alone, since it affects other flows. */
  readonly alone?: true;
  /** Before the flow is started. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** While it runs. */
  readonly meanwhile?: (stage: Stage) => Promise<void>;
  /** Undoes effects on other flows; comes last, in every case. */
  readonly tidy?: (stage: Stage) => Promise<void>;
  /** After its end: a deviation besides the ending, as a sentence. */
  readonly flaw?: (stage: Stage, ended: Flow) => Promise<string | undefined>;
}

/** The scene of each kind, from its definition. */
export const kindScenes: readonly Scene[] = FLOW_KINDS.map((kind) => ({ kind, ...flowOf(kind).demo }));
