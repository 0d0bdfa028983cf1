import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import type { World } from '../world.js';
import type { Person } from './person.js';

/**
 * A small scripted run with one fault at one moment. The product passes it without a violation; with a planted bug it
 * does not.
 */
export interface Trial {
  /** What happens in it. */
  readonly story: string;
  /** Plays it, and resolves when nothing more is done to the world. */
  readonly play: (person: Person, world: World) => Promise<void>;
  /** Processes are killed: it is played when the others are over. */
  readonly kills?: true;
}

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
/** The service executes it, and sends no report. */
const SILENT = 'no-callbacks-ever';
/** A deadline of eight seconds. */
const SOON = { deadlineSeconds: 160 };
/** While it is parked it asks every three seconds: the order comes before it has asked by itself. */
const SELDOM_ASKED = { timeScale: 0.2, deadlineSeconds: 9_000 };
/** Eighteen seconds until a refund by us, in which the service learns more. */
const BEFORE_ITS_REFUND = { timeScale: 0.02, deadlineSeconds: 90_000, refund: { auto: true } };

export const TRIALS = {
  plain: {
    story: 'a crypto send, without any fault',
    async play({ order, untilState }) {
      await order('crypto-send', 'trial-plain');
      await untilState('crypto-send', 'trial-plain', 'completed', 'failed', 'parked');
    },
  },
  'small-amount': {
    story: 'a crypto send of an amount that no float of 32 bits is',
    async play({ order, untilState }) {
      await order('crypto-send', 'trial-small-amount', { cryptoAmount: '16777217' });
      await untilState('crypto-send', 'trial-small-amount', 'completed', 'failed', 'parked');
    },
  },
  'lost-answer': {
    story: 'the service executes a crypto send, its answer is lost, and no event of it comes',
    async play({ fault, order, untilState }) {
      const reference = 'trial-lost-answer';
      await fault({ operation: 'sendCrypto', kind: 'answer-lost', reference, first: 1 });
      // A proven event would hold a false end back, or, if it came after that end, would be listed and excuse it.
      await order('crypto-send', reference, {}, SILENT);
      await untilState('crypto-send', reference, 'completed', 'failed', 'parked');
    },
  },
  'duplicate-answer': {
    story:
      'the service executes a crypto send, and answers 400 "Duplicate reference" (a proxy on the way sent it twice), and no event of it comes',
    async play({ fault, order, untilState }) {
      const reference = 'trial-duplicate-answer';
      await fault({ operation: 'sendCrypto', kind: 'duplicate-answer', status: 400, reference, first: 1 });
      // As in `lost-answer`: an event would prove that it was executed.
      await order('crypto-send', reference, {}, SILENT);
      await untilState('crypto-send', reference, 'completed', 'failed', 'parked');
    },
  },
  'lookup-refused': {
    story:
      'the answer of a crypto send is lost, and its status lookup is refused with 403, whatever the setting says of repeats',
    async play({ fault, order, mayPark, untilState, untilTrue, executed }) {
      const reference = 'trial-lookup-refused';
      await fault({ operation: 'sendCrypto', kind: 'answer-lost', reference, first: 1 });
      await fault({ operation: 'getCryptoSend', kind: 'error-before', status: 403, reference });
      mayPark('crypto-send', reference, 'the service cannot be asked');
      await order('crypto-send', reference, {}, SILENT);
      await untilTrue('it to be executed', async () => (await executed('sendCrypto', reference)) > 0);
      await untilState('crypto-send', reference, 'completed', 'failed', 'parked');
    },
  },
  'order-against-proof': {
    story: 'a person orders to send again, at a moment when the service can say that it was executed',
    async play({ fault, order, mayPark, untilState, resolve }) {
      const reference = 'trial-against-proof';
      await fault({ operation: 'sendCrypto', kind: 'answer-lost', reference, first: 1 });
      const heal = await fault({ operation: 'getCryptoSend', kind: 'error-before', status: 403, reference });
      mayPark('crypto-send', reference, 'the service cannot be asked');
      await order('crypto-send', reference, SELDOM_ASKED, SILENT);
      await untilState('crypto-send', reference, 'parked');
      await heal();
      await resolve('crypto-send', reference, 'send-again');
      await untilState('crypto-send', reference, 'completed', 'failed');
    },
  },
  reset: {
    story: 'a flow that has completed is reset, in the Temporal UI, to before its POST',
    async play({ order, untilState, untilTrue }, world) {
      const reference = 'trial-reset';
      await order('crypto-send', reference, {}, SILENT);
      await untilState('crypto-send', reference, 'completed');
      const connection = await Connection.connect({ address: world.temporalAddress });
      try {
        const { workflowService: service } = connection;
        const ofFlow = { namespace: 'default', execution: { workflowId: `crypto-send/${reference}` } };
        const latest = async () => (await service.describeWorkflowExecution(ofFlow)).workflowExecutionInfo;
        const { history } = await service.getWorkflowExecutionHistory(ofFlow);
        const first = history?.events?.find(({ workflowTaskCompletedEventAttributes: task }) => task != null);
        const runId = (await latest())?.execution?.runId;
        await service.resetWorkflowExecution({
          namespace: 'default',
          workflowExecution: { ...ofFlow.execution, runId: runId ?? null },
          reason: 'a trial',
          requestId: randomUUID(),
          workflowTaskFinishEventId: first?.eventId ?? null,
        });
        await untilTrue('the new run to end', async () => {
          const now = await latest();
          return now?.execution?.runId !== runId && now?.closeTime != null;
        });
      } finally {
        await connection.close();
      }
    },
  },
  'repeated-event': {
    story: 'the service sends one event of a withdrawal that is never paid twice',
    async play({ order, mayPark, callbackUrlOf, post }) {
      const reference = 'trial-repeated-event';
      mayPark('bank-withdrawal', reference, 'the scenario "never"');
      await order('bank-withdrawal', reference, SOON, 'never');
      const url = await callbackUrlOf(reference);
      const body = { referenceId: reference, status: 'PROCESSING' };
      await post(url, 'webhook', body);
      await post(url, 'webhook', body);
    },
  },
  'lower-word-last': {
    story: 'before the POST of a withdrawal is answered, its SUCCESSFUL comes, and then a PENDING that was late',
    async play({ holdAnswer, order, callbackUrlOf, post, untilSignalled, untilState }) {
      const reference = 'trial-lower-word';
      const flowId = `bank-withdrawal/${reference}`;
      const answer = holdAnswer(reference);
      await order('bank-withdrawal', reference, { deadlineSeconds: 800 });
      // The callback, which nobody signs, and the webhook bring it in their own time: the proven one must come first.
      await untilSignalled(flowId, 'SUCCESSFUL');
      await post(await callbackUrlOf(reference), 'webhook', { referenceId: reference, status: 'QUEUED' });
      await untilSignalled(flowId, 'QUEUED');
      answer.pass();
      await untilState('bank-withdrawal', reference, 'completed', 'failed', 'parked');
    },
  },
  'late-event': {
    story: 'after a withdrawal has completed, another event of it comes',
    async play({ order, untilDelivered, deliveries, post, untilState }) {
      const reference = 'trial-late-event';
      await order('bank-withdrawal', reference);
      await untilDelivered(reference, 'SUCCESSFUL');
      await untilState('bank-withdrawal', reference, 'completed');
      const last = (await deliveries(reference)).find(({ status }) => status === 'SUCCESSFUL');
      await post(last?.url ?? '', 'webhook', { ...(JSON.parse(last?.body ?? '{}') as object), status: 'QUEUED' });
    },
  },
  'begun-early': {
    story: 'the service reports what was begun elsewhere before its flow is started',
    async play({ begin, order, untilState, untilTrue, deliveries }) {
      const reference = 'trial-begun-early';
      await begin('mobile-money-watch', reference);
      await untilTrue('it to be reported', async () =>
        (await deliveries(reference)).some(({ stream, attempts }) => stream === 'webhook' && attempts.length > 0),
      );
      await order('mobile-money-watch', reference);
      await untilState('mobile-money-watch', reference, 'completed', 'failed', 'parked');
    },
  },
  'no-callbacks': {
    story: 'the service pays a withdrawal, and says so to nobody',
    async play({ order, mayPark }) {
      mayPark('bank-withdrawal', 'trial-no-callbacks', 'the service sent no event of it');
      await order('bank-withdrawal', 'trial-no-callbacks', SOON, SILENT);
    },
  },
  forged: {
    story:
      'a withdrawal that is never paid; a forger, who knows every fact and the URL, posts SUCCESSFUL without a signature',
    async play({ order, mayPark, untilTrue, executed, forge }) {
      const reference = 'trial-forged';
      mayPark('bank-withdrawal', reference, 'the scenario "never", and a lie');
      await order('bank-withdrawal', reference, SOON, 'never');
      await untilTrue('it to be executed', async () => (await executed('createBankWithdrawal', reference)) > 0);
      await forge(reference);
    },
  },
  'bare-failure': {
    story: 'the service pays the crypto of a bridge transfer; then the provider says FAILED, and nothing beside it',
    async play({ order, mayPark, untilDelivered, untilState, post }, world) {
      const reference = 'trial-bare-failure';
      mayPark('bridge-transfer', reference, 'the refund is for a person to decide');
      await order('bridge-transfer', reference, {}, 'no-settlement-ever');
      await untilDelivered(reference, 'PAYMENT_CONFIRMED');
      const settlement = `${world.gatewayUrl}${SETTLEMENT_PATH}`;
      await post(settlement, 'settlement', { provider_reference_id: reference, status: 'FAILED' });
      await untilState('bridge-transfer', reference, 'failed', 'refunded', 'parked');
    },
  },
  'claimed-completion': {
    story:
      'a provider that cannot sign says COMPLETED, then FAILED; the service learns that the recipient was paid, and its word of it is late',
    async play({ order, mayPark, untilTrue, executed, forge, holdEvents, untilDelivered, untilState }, world) {
      const reference = 'trial-claimed';
      mayPark('bridge-transfer', reference, 'two endings were said');
      await order('bridge-transfer', reference, BEFORE_ITS_REFUND, 'failed-no-refund');
      await untilTrue('it to be executed', async () => (await executed('createBridgeDeposit', reference)) > 0);
      await forge(reference);
      // The service's own: it has our report then, and no later report of ours can undo what it learns.
      await untilDelivered(reference, 'FAILED', 'callback');
      const proof = holdEvents(reference, 'COMPLETED');
      await world.control('POST', '/forge', { reference, url: `${world.sandboxUrl}${SETTLEMENT_PATH}` });
      await untilState('bridge-transfer', reference, 'refunded', 'failed', 'parked');
      proof.pass();
    },
  },
  'worker-dies-sending': {
    story: 'the service executes a crypto send and is slow to answer; the worker is killed meanwhile',
    kills: true,
    async play({ holdAnswer, order, untilTrue, executed, untilState }, world) {
      const reference = 'trial-died-sending';
      const answer = holdAnswer(reference);
      await order('crypto-send', reference, {}, SILENT);
      await untilTrue('it to be executed', async () => (await executed('sendCrypto', reference)) > 0);
      for (const worker of world.workers) await worker.kill();
      answer.pass();
      for (const worker of world.workers) await worker.start();
      await untilState('crypto-send', reference, 'completed', 'failed', 'parked');
    },
  },
  'gateway-dies-acknowledging': {
    story: 'the gateway is killed right after it has answered a callback with 200',
    kills: true,
    async play({ order, untilTrue, untilState }, world) {
      const reference = 'trial-died-acknowledging';
      await order('bank-withdrawal', reference, SOON);
      const isTaken = () =>
        world.inbound.requests().some(({ path, status }) => path.includes(reference) && status === 200);
      await untilTrue('a callback to be answered', isTaken);
      for (const gateway of world.gateways) await gateway.kill();
      for (const gateway of world.gateways) await gateway.start();
      await untilState('bank-withdrawal', reference, 'completed', 'failed', 'parked');
    },
  },
} as const satisfies Readonly<Record<string, Trial>>;

export type TrialName = keyof typeof TRIALS;
export const trialNames = Object.keys(TRIALS) as TrialName[];
export const trialNamed = (name: TrialName): Trial => TRIALS[name];
