import type { DemoScene } from '../../flows/flow.js';
import { flowOf } from '../../flows/index.js';
import type { Flow } from '../../api/flow.js';
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

const DEPOSIT = 'createBridgeDeposit';
const ONCE = { createBridgeDeposit: 1 };
/** Time to see a flow between a forged COMPLETED and the genuine one. */
const SLOW_FACTOR = 4;
const USUAL_SLOW_FACTOR = 20;
/** Longer than it takes to kill the worker that waits for this answer. */
const HELD_ANSWER_MS = 20_000;

/** Fiat in, crypto across, fiat out: one fault after the other. */
const TROUBLED_TRANSFERS: readonly Omit<Scene, 'kind'>[] = [
  {
    name: 'refunded',
    title: 'fails, and the service refunds it',
    expected: 'refunded',
    executes: ONCE,
    ending: 'failed-then-refunded',
  },
  {
    name: 'answer-lost',
    title: "the deposit's answer is lost after it was executed",
    expected: 'completed',
    executes: ONCE,
    fault: { operation: DEPOSIT, kind: 'answer-lost', executed: true },
  },
  {
    name: 'forged',
    title: 'a forged COMPLETED comes before the genuine one',
    expected: 'completed',
    executes: ONCE,
    ending: 'slow',
    prepare: ({ sandbox }) => sandbox.setSlowFactor(SLOW_FACTOR),
    async meanwhile({ sandbox, gateway, reference, flowId, until, say }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
      await sandbox.forge(reference);
      const shown = await until('the forged COMPLETED on the flow', async () => {
        const view = await gateway.show(flowId);
        return view.state !== 'running' || saysUnverified(view) ? view : undefined;
      });
      if (shown.state !== 'running') throw new Error(`the forged COMPLETED made the flow ${shown.state}`);
      say('a forged COMPLETED, every fact in it right, is shown on its flow as unverified; the flow continues');
    },
    flaw: async (_, ended) => (saysUnverified(ended) ? undefined : 'the forgery is not on the flow'),
    tidy: ({ sandbox }) => sandbox.setSlowFactor(USUAL_SLOW_FACTOR),
  },
  {
    name: 'own-refund',
    title: 'fails, no refund comes, so we refund it',
    expected: 'refunded',
    executes: { ...ONCE, sendCrypto: 1 },
    // The 15 minutes that the service has for its own refund become 4.5 seconds.
    input: { refund: { auto: true }, timeScale: 0.005, deadlineSeconds: 360_000 },
    ending: 'failed-no-refund',
  },
  {
    name: 'worker-killed',
    title: 'the worker is killed while it waits for the answer to the deposit',
    expected: 'completed',
    executes: ONCE,
    alone: true,
    fault: { operation: DEPOSIT, kind: 'slow', delayMs: HELD_ANSWER_MS, executed: true },
    async meanwhile({ sandbox, reference, until, killWorker, say }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
      say('killing the worker while the answer to its deposit is on the way');
      await killWorker();
    },
  },
];

function saysUnverified(view: Flow): boolean {
  return view.timeline.some(({ code }) => code === 'event-unverified');
}

/** The demo: one flow of every kind by its definition, and transfers with faults. */
export const SCENES: readonly Scene[] = [
  ...FLOW_KINDS.map((kind) => ({ kind, ...flowOf(kind).demo })),
  ...TROUBLED_TRANSFERS.map((scene) => ({ kind: 'bridge-transfer' as const, ...scene })),
];
