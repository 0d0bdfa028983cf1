import type { FlowView } from '../../protocol/messages.js';
import type { Scene, Stage } from './scene.js';

const DEPOSIT = 'createBridgeDeposit';
const ONCE = { createBridgeDeposit: 1 };
/** Time to look at a flow between a forged COMPLETED and the genuine one. */
const SLOW_FACTOR = 4;
const USUAL_SLOW_FACTOR = 20;
/** Longer than it takes to kill the worker that waits for this answer. */
const HELD_ANSWER_MS = 20_000;

/** Fiat in, crypto across, fiat out: what goes wrong with it, one after the other. */
const bridgeScenes: readonly Scene[] = [
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
    async meanwhile({ sandbox, gateway, reference, flowId, until, say }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
      await sandbox.forge(reference);
      const shown = await until('the forged COMPLETED on the flow', async () => {
        const view = await gateway.show(flowId);
        return view.state !== 'running' || saysUnverified(view) ? view : undefined;
      });
      if (shown.state !== 'running') throw new Error(`the forged COMPLETED made the flow ${shown.state}`);
      say('a forged COMPLETED, every fact in it right, is on its flow as unverified; the flow runs on');
    },
    flaw: async (_, ended) => (saysUnverified(ended) ? undefined : 'the forgery is not on the flow'),
    tidy: ({ sandbox }) => sandbox.setSlowFactor(USUAL_SLOW_FACTOR),
  },
  {
    kind: 'bridge-transfer',
    name: 'own-refund',
    title: 'fails, no refund comes, so we refund it',
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
    async meanwhile({ sandbox, reference, until, killWorker, say }) {
      await until('the deposit', async () => (await sandbox.executions(reference))[DEPOSIT]);
      say('killing the worker while the answer to its deposit is on the way');
      await killWorker();
    },
    flaw: faultNotExecuted,
  },
];

function saysUnverified(view: FlowView): boolean {
  return view.timeline.some(({ detail }) => detail.startsWith('unverified COMPLETED'));
}

/** A customer pays. */
const payInScenes: readonly Scene[] = [
  {
    kind: 'invoice-payment',
    name: 'invoice',
    title: 'an invoice is generated, read and paid in one flow',
    expected: 'completed',
    executes: { createInvoice: 1, payInvoice: 1 },
  },
  {
    kind: 'onramp',
    name: 'onramp',
    title: 'its answer is lost after it was executed',
    expected: 'completed',
    executes: { createOnramp: 1 },
    prepare: ({ sandbox, reference }) => sandbox.fault({ operation: 'createOnramp', kind: 'answer-lost', reference }),
    flaw: faultNotExecuted,
  },
  {
    kind: 'bank-checkout',
    name: 'checkout',
    title: 'its answer is lost, and only the callback can prove it',
    expected: 'completed',
    executes: { createBankCheckout: 1 },
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: 'createBankCheckout', kind: 'answer-lost', reference }),
    flaw: faultNotExecuted,
  },
  {
    kind: 'card-deposit',
    name: 'card',
    title: 'a card is charged whose number only the memory of the gateway holds',
    expected: 'completed',
    executes: { createCardDeposit: 1 },
    flaw: async (_, ended) =>
      /4111\D?1111\D?1111\D?1111/.test(JSON.stringify(ended)) ? 'the flow shows the number of the card' : undefined,
  },
];

/** Money goes out to a recipient. */
const payOutScenes: readonly Scene[] = [
  {
    kind: 'crypto-send',
    name: 'send',
    title: 'no event reports it, so it is looked up',
    expected: 'completed',
    executes: { sendCrypto: 1 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'no-callbacks-ever'),
    flaw: someEventCame,
  },
  {
    kind: 'offramp',
    name: 'offramp',
    title: 'the payout fails, and the service gives the crypto back',
    expected: 'refunded',
    executes: { createOfframp: 1 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-then-refunded'),
  },
  {
    kind: 'bank-withdrawal',
    name: 'withdrawal',
    title: 'refused at first (429), and sent again',
    expected: 'completed',
    executes: { createBankWithdrawal: 1 },
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: 'createBankWithdrawal', kind: 'rate-limited', reference }),
    flaw: notRefusedFirst,
  },
];

/** No money moves: how a record ends is awaited. */
const watchScenes: readonly Scene[] = [
  {
    kind: 'kyc-check',
    name: 'kyc',
    title: 'a record is looked at until it is approved',
    expected: 'completed',
    executes: {},
    // The quarter of an hour from one look to the next becomes 1.8 seconds, and the deadline 72.
    input: { timeScale: 0.002 },
  },
  {
    kind: 'mobile-money-watch',
    name: 'watch',
    title: 'a mobile money deposit that was started elsewhere is watched',
    expected: 'completed',
    executes: { mobileMoneyDeposit: 1 },
    prepare: ({ sandbox, reference }) => sandbox.mobileMoneyDeposit(reference),
  },
];

/** The demo: one flow of every kind at least, and what goes wrong with them. A new scene is one entry in its file. */
export const SCENES: readonly Scene[] = [...bridgeScenes, ...payInScenes, ...payOutScenes, ...watchScenes];

/*
 * What a scene must have shown besides its ending: a run in which the fault did not happen shows nothing.
 */

async function faultNotExecuted({ sandbox, reference }: Stage): Promise<string | undefined> {
  const faults = await sandbox.faultsOf(reference);
  return faults.some(({ executed }) => executed) ? undefined : 'the fault did not happen';
}

async function notRefusedFirst({ sandbox, reference }: Stage): Promise<string | undefined> {
  const faults = await sandbox.faultsOf(reference);
  return faults.some(({ executed }) => !executed) ? undefined : 'the fault did not happen';
}

async function someEventCame({ gateway, flowId }: Stage): Promise<string | undefined> {
  const { events } = await gateway.events({ flowId });
  return events.length === 0 ? undefined : 'it ended by events, and not by its lookup alone';
}
