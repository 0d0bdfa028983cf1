import type { FlowView } from '../../../flows/messages.js';
import type { Scene } from '../scene.js';
import { faultNotExecuted } from './shown.js';

const DEPOSIT = 'createBridgeDeposit';
const ONCE = { createBridgeDeposit: 1 };
/** Time to look at a flow between a forged COMPLETED and the genuine one. */
const SLOW_FACTOR = 4;
const USUAL_SLOW_FACTOR = 20;
/** Longer than it takes to kill the worker that waits for this answer. */
const HELD_ANSWER_MS = 20_000;

/** Fiat in, crypto across, fiat out: what goes wrong with it, one after the other. */
export const bridgeScenes: readonly Scene[] = [
  {
    kind: 'bridge-transfer',
    name: 'completed',
    title: 'nothing goes wrong',
    expected: 'completed',
    executes: ONCE,
  },
  {
    kind: 'bridge-transfer',
    name: 'refunded',
    title: 'fails, and the service refunds it',
    expected: 'refunded',
    executes: ONCE,
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-then-refunded'),
  },
  {
    kind: 'bridge-transfer',
    name: 'answer-lost',
    title: "the deposit's answer is lost after it was executed",
    expected: 'completed',
    executes: ONCE,
    prepare: ({ sandbox, reference }) => sandbox.fault({ operation: DEPOSIT, kind: 'answer-lost', reference }),
    flaw: faultNotExecuted,
  },
  {
    kind: 'bridge-transfer',
    name: 'forged',
    title: 'a forged COMPLETED comes before the genuine one',
    expected: 'completed',
    executes: ONCE,
    async prepare({ sandbox, reference }) {
      await sandbox.setSlowFactor(SLOW_FACTOR);
      await sandbox.scenario(reference, 'slow');
    },
    async meanwhile({ sandbox, gateway, reference, flowId, until, tell }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
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
    kind: 'bridge-transfer',
    name: 'own-refund',
    title: 'fails, nobody refunds it, so we do',
    expected: 'refunded',
    executes: { ...ONCE, sendCrypto: 1 },
    // The 15 minutes that the service has for its own refund become 4.5 seconds.
    input: { refund: { auto: true }, timeScale: 0.005, deadlineSeconds: 360_000 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-no-refund'),
  },
  {
    kind: 'bridge-transfer',
    name: 'worker-killed',
    title: 'the worker is killed while it waits for the answer to the deposit',
    expected: 'completed',
    executes: ONCE,
    alone: true,
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: DEPOSIT, kind: 'slow', delayMs: HELD_ANSWER_MS, reference }),
    async meanwhile({ sandbox, reference, until, killWorker, tell }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
      tell('killing the worker while the answer to its deposit is on the way');
      await killWorker();
    },
    flaw: faultNotExecuted,
  },
];

function saysUnverified(view: FlowView): boolean {
  return view.timeline.some(({ detail }) => detail.startsWith('unverified COMPLETED'));
}
