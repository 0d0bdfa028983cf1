import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import { cardQueueOf, cardTokenOf } from '../../src/flows/capability.js';
import type { Queue } from '../../src/protocol/task-queues.js';
import { cardDepositInput } from '../flows/cards/card-bench.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { endOf, reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import cryptoSend from '../kinds/crypto-send.js';

const MINUTE_MS = 60_000;
const ALL_BUT_MONEY: readonly Queue[] = ['flows', 'lookups', 'callbacks'];

describe('while no worker serves the money queue', () => {
  let bench: Stack;
  beforeEach(async () => {
    bench = await openStack({ time: 'skipping', worker: false });
    await bench.worker({}, { queues: ALL_BUT_MONEY });
  });
  afterEach(() => bench.close());

  const started = async (more: Record<string, unknown> = {}) => {
    const [transfer, send] = [newReference('transfer'), newReference('send')];
    return {
      transfer: await bench.start(transferInput(transfer, more)),
      send: await bench.startFlow('crypto-send', send, { ...cryptoSend.input(send), ...more }),
      executions: async () => [
        await bench.executions('createBridgeDeposit', transfer),
        await bench.executions('sendCrypto', send),
      ],
    };
  };

  test('flows wait for half an hour without an end and a POST, and are sent once when a worker comes', async () => {
    const { transfer, send, executions } = await started();
    await bench.pass(30 * MINUTE_MS);
    for (const handle of [transfer, send]) expect((await reportOf(handle)).view.state).toBe('running');
    expect(await executions()).toEqual([0, 0]);
    const codes = (await reportOf(transfer)).view.timeline.map(({ code }) => code);
    expect(codes).toContain('not-sent');
    // Quoted again once a minute in the end: neither the service nor the history is flooded.
    expect(codes.filter((code) => code === 'quoted').length).toBeLessThan(41);

    await bench.worker({}, { queues: ['money'] });
    await bench.pass(2 * MINUTE_MS);
    await untilFlow(transfer, ({ view }) => view.stage === 'tracking');
    expect((await endOf(send)).view.state).toBe('completed');
    expect(await executions()).toEqual([1, 1]);
  });

  test('flows expire at their deadlines as deadline_passed, and what waited for them is not sent later', async () => {
    const { transfer, send, executions } = await started({ deadlineSeconds: 600 });
    for (const handle of [transfer, send]) {
      expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
    }
    await bench.worker({}, { queues: ['money'] });
    await bench.pass(2 * MINUTE_MS);
    expect(await executions()).toEqual([0, 0]);
  });

  test('a deposit of unknown outcome that a person sent again is parked past its deadline as unknown_outcome', async () => {
    const lost = {
      createBridgeDeposit: () => Promise.reject(new UnknownOutcomeError('createBridgeDeposit', 'timeout')),
    };
    const money = await bench.worker({ service: { ...bench.deps.service, ...lost } }, { queues: ['money'] });
    const handle = await bench.start(transferInput(newReference('again'), { deadlineSeconds: 600 }));
    await bench.pass(5 * MINUTE_MS);
    expect((await reportOf(handle)).view.parked?.reason).toBe('unknown_outcome');
    await money.shutdown();
    await handle.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'not there', actor: 'ada' }] });
    await bench.pass(30 * MINUTE_MS);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect((await reportOf(handle)).view.parked?.reason).toBe('unknown_outcome');
    const [claim] = await bench.store.claims.ofFlow(handle.workflowId);
    expect(claim?.phase).toBe('sending');
  });

  test('a card deposit gets no turn, fails as card_details_expired, and its gateway sends nothing', async () => {
    const reference = newReference('card');
    const cardToken = cardTokenOf(cardQueueOf(randomBytes(24)), randomBytes(32));
    const handle = await bench.startFlow('card-deposit', reference, cardDepositInput(reference, { cardToken }));
    expect((await endOf(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'card_details_expired' });
    expect(await activitiesOf(handle)).toContain('takeTurn');
    expect(await activitiesOf(handle)).not.toContain('submitCardDeposit');
  });
});

async function activitiesOf(handle: WorkflowHandle): Promise<readonly unknown[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}
