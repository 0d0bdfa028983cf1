import type { FlowView } from '../../flows/messages.js';
import type { Scene, Stage } from './scene.js';

const DEPOSIT = 'createBridgeDeposit';
/** Time to look at a flow between a forged COMPLETED and the genuine one. */
const SLOW_FACTOR = 4;
const USUAL_SLOW_FACTOR = 20;
/** Longer than it takes to kill the worker that waits for this answer. */
const HELD_ANSWER_MS = 20_000;

/** The demo: what goes wrong with money transfers, one after the other. A new scene is one entry here. */
export const SCENES: readonly Scene[] = [
  {
    name: 'completed',
    title: 'nothing goes wrong',
    expected: 'completed',
    refunds: 0,
  },
  {
    name: 'refunded',
    title: 'fails, and the service refunds it',
    expected: 'refunded',
    refunds: 0,
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-then-refunded'),
  },
  {
    name: 'answer-lost',
    title: "the deposit's answer is lost after it was executed",
    expected: 'completed',
    refunds: 0,
    prepare: ({ sandbox, reference }) => sandbox.fault({ operation: DEPOSIT, kind: 'answer-lost', reference }),
    flaw: executedFault,
  },
  {
    name: 'forged',
    title: 'a forged COMPLETED comes before the genuine one',
    expected: 'completed',
    refunds: 0,
    async prepare({ sandbox, reference }) {
      await sandbox.setSlowFactor(SLOW_FACTOR);
      await sandbox.scenario(reference, 'slow');
    },
    async meanwhile({ sandbox, gateway, reference, flowId, until, tell }) {
      await until('the deposit', async () => (await sandbox.executions(DEPOSIT, reference)) || undefined);
      await sandbox.forge(reference);
      const shown = await until('the forged COMPLETED on the flow', async () => {
        const view = await gateway.show(flowId);
        return view.state !== 'running' || saysUnverified(view) ? view : undefined;
      });
      if (shown.state !== 'running') throw new Error(`the forged COMPLETED made the flow ${shown.state}`);
      tell('a forged COMPLETED, every fact in it right, is on its flow as unverified; the flow runs on');
    },
    flaw: async (_, ended) => (saysUnverified(ended) ? undefined : 'the forgery is not on the flow'),
    tidy: ({ sandbox }) => sandbox.setSlowFactor(USUAL_SLOW_FACTOR),
  },
  {
    name: 'own-refund',
    title: 'fails, nobody refunds it: we do',
    expected: 'refunded',
    refunds: 1,
    // The 15 minutes that the service has for its own refund become 4.5 seconds.
    input: { refund: { auto: true }, timeScale: 0.005, deadlineSeconds: 360_000 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-no-refund'),
  },
  {
    name: 'worker-killed',
    title: 'the worker is killed while it waits for the answer to the deposit',
    expected: 'completed',
    refunds: 0,
    alone: true,
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: DEPOSIT, kind: 'slow', delayMs: HELD_ANSWER_MS, reference }),
    async meanwhile({ sandbox, reference, until, killWorker, tell }) {
      await until('the deposit', async () => (await sandbox.executions(DEPOSIT, reference)) || undefined);
      tell('killing the worker while the answer to its deposit is on the way');
      await killWorker();
    },
    flaw: executedFault,
  },
];

function saysUnverified(view: FlowView): boolean {
  return view.timeline.some(({ detail }) => detail.startsWith('unverified COMPLETED'));
}

/** A run in which the fault did not happen shows nothing. */
async function executedFault({ sandbox, reference }: Stage): Promise<string | undefined> {
  return (await sandbox.executedFaults(reference)) > 0 ? undefined : 'the fault did not happen';
}
