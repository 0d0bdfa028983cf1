import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { PLAINTEXT } from '../../src/protocol/plaintext-marker.js';
import { callbackIdOf, CALLBACK_WORKFLOW } from '../../src/protocol/vocabulary.js';
import type { CallbackOrder } from '../../src/protocol/callbacks.js';
import { MAX_SIGNALS_PER_RUN } from '../../workflows/engine/policies.js';
import { gate } from '../decisions/bench.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack, type StackOptions } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { startReceiver, type Receiver } from './receiver.js';

const HOUR_MS = 3_600_000;
const secrets = [`whsec_${Buffer.alloc(32, 5).toString('base64')}`];
const callbacks = createCallbackSender({ secrets: () => secrets, allowLoopback: true });

const closing: (() => Promise<unknown>)[] = [];
let caller: Receiver;
beforeEach(async () => {
  caller = await startReceiver();
  closing.push(() => caller.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function open(deps: StackOptions['deps'] = {}): Promise<Stack> {
  const bench = await openStack({
    time: 'skipping',
    sandbox: { stepMs: HOUR_MS },
    deps: { callbacks, ...deps },
  });
  closing.push(() => bench.close());
  return bench;
}

const stages = () => caller.received.map(({ body }) => body.data.stage as string);
const skipped = (index: number) => caller.received[index]?.body.data.skipped.map(({ stage }: { stage: string }) => stage); // prettier-ignore
const withCallback = (more: object) => ({ callbackUrl: `${caller.url}/hook`, ...more });
const deliveryOf = (bench: Stack, flowId: string) => bench.client.workflow.getHandle(callbackIdOf(flowId));
const cancel = { args: [{ actor: 'ada' }] as [{ actor: string }] };

/** A watched record, which is decided by nothing but its cancellation. */
async function watch(bench: Stack, more: object = {}) {
  const kycId = newReference('pending');
  const handle = await bench.startFlow('kyc-check', kycId, withCallback({ kycId, ...more }));
  await caller.until((all) => all.length > 0);
  const delivery = deliveryOf(bench, handle.workflowId);
  const delivered = (count: number) =>
    until('it to be delivered', async () => {
      const { state, delivered: done } = await delivery.query<{ state: string; delivered: unknown }>('callbacks');
      return caller.received.length === count && state === 'delivered' && done !== null;
    });
  await delivered(1);
  return { kycId, handle, delivery, delivered };
}

describe('the changes of a flow', () => {
  it('are reported each once, while one delivery runs, up to its end', async () => {
    const bench = await open();
    const { handle, delivery } = await watch(bench);
    const { runId } = await delivery.describe();
    await handle.executeUpdate('cancel', cancel);
    await handle.result().catch(() => undefined);
    await delivery.result();
    expect((await delivery.describe()).runId).toBe(runId);
    expect(stages()).toEqual(['tracking', 'done']);
    expect([skipped(0), skipped(1)]).toEqual([[], []]);
    expect(caller.received[1]?.body.data).toMatchObject({
      state: 'cancelled',
      outcome: { state: 'cancelled', reason: 'cancelled_before_sending' },
    });
  });

  it('start another delivery if the one before has ended, having had nothing to do', async () => {
    const bench = await open();
    const { handle, delivery } = await watch(bench);
    const { runId } = await delivery.describe();
    await bench.pass(2 * HOUR_MS);
    expect((await delivery.describe()).status.name).toBe('COMPLETED');
    await handle.executeUpdate('cancel', cancel);
    await caller.until((all) => all.length === 2);
    await delivery.result();
    expect((await delivery.describe()).runId).not.toBe(runId);
    expect(stages()).toEqual(['tracking', 'done']);
  });

  it('go to a delivery that a person has started meanwhile', async () => {
    const bench = await open();
    const kycId = newReference('pending');
    const flowId = `kyc-check/${kycId}`;
    const order: CallbackOrder = { flowId, url: `${caller.url}/hook`, timeScale: 1, changes: [] };
    const options = { taskQueue: bench.taskQueue, workflowId: callbackIdOf(flowId), args: [order] };
    const { firstExecutionRunId } = await bench.client.workflow.start(CALLBACK_WORKFLOW, options);
    await bench.startFlow('kyc-check', kycId, withCallback({ kycId }));
    await caller.until((all) => all.length > 0);
    expect((await deliveryOf(bench, flowId).describe()).runId).toBe(firstExecutionRunId);
    expect(stages()).toEqual(['tracking']);
  });

  it('are reported by the next run as if there had been one, and none twice', async () => {
    const bench = await open();
    const { handle, delivery } = await watch(bench);
    const latest = bench.client.workflow.getHandle(handle.workflowId);
    const { runId } = await latest.describe();
    for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await latest.signal('events', []);
    await until('the next run', async () => (await latest.describe()).runId !== runId);
    await untilFlow(latest, ({ view }) => view.stage === 'tracking');
    await latest.executeUpdate('cancel', cancel);
    await delivery.result();
    expect(stages()).toEqual(['tracking', 'done']);
    const [first, second] = caller.received.map(({ body }) => String(body.timestamp));
    expect(Date.parse(second ?? '')).toBeGreaterThan(Date.parse(first ?? ''));
    expect(skipped(1)).toEqual([]);
  });

  it('are reported to their caller alone: without an address there is no delivery', async () => {
    const bench = await open();
    const kycId = newReference('pending');
    const handle = await bench.startFlow('kyc-check', kycId, { kycId });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await expect(deliveryOf(bench, handle.workflowId).describe()).rejects.toThrow('not found');
  });

  it.each(['', 7, null])('are not reported to what is no address (%j)', async (callbackUrl) => {
    const bench = await open();
    const kycId = newReference('pending');
    const handle = await bench.startFlow('kyc-check', kycId, { kycId, callbackUrl });
    await untilFlow(handle, ({ view }) => view.stage !== 'preparing');
    await expect(deliveryOf(bench, handle.workflowId).describe()).rejects.toThrow('not found');
  });
});

describe('a change while money may be on its way', () => {
  it('is reported together with the outcome, so that it does not hold up its caller', async () => {
    const service = (await open()).deps.service;
    const sending = gate();
    const sendCrypto: typeof service.sendCrypto = async (...given) => {
      await sending.opened;
      return service.sendCrypto(...given);
    };
    const bench = await open({ service: { ...service, sendCrypto } });
    const reference = newReference('slow');
    const handle = await bench.startFlow('crypto-send', reference, withCallback(cryptoSend.input(reference)));
    await untilFlow(handle, ({ view }) => view.stage === 'submitting');
    await expect(deliveryOf(bench, handle.workflowId).describe()).rejects.toThrow('not found');
    sending.open();
    await caller.until((all) => all.length > 0);
    expect(stages()[0]).toBe('tracking');
    expect(skipped(0)).toEqual(['submitting']);
    await handle.terminate();
  });

  it('is reported at once while a quote waits for its approval', async () => {
    const bench = await open();
    const reference = newReference('approved');
    const handle = await bench.start(transferInput(reference, withCallback({ approval: 'required' })));
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await caller.until(() => stages().includes('awaiting-approval'));
    await handle.terminate();
  });

  it('is reported with what a person is asked, and without the facts of an untrusted event', async () => {
    const bench = await open();
    const reference = newReference('asked');
    const handle = await bench.start(transferInput(reference, withCallback({})));
    await untilFlow(handle, ({ view }) => view.serviceReference !== null);
    await caller.until(() => stages().includes('tracking'));
    const before = caller.received.length;
    await handle.signal('events', [trusted('COMPLETED', { trusted: false, proof: null })]);
    await untilFlow(handle, ({ events }) => Object.values(events).includes('unverified'));
    await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: '98765.4321' } })]);
    await caller.until((all) => all.length > before);
    expect(caller.received.slice(before).map(({ body }) => body.data)).toEqual([
      expect.objectContaining({
        state: 'parked',
        outcome: null,
        parked: {
          reason: 'event_mismatch',
          since: expect.any(String),
          actions: ['accept-event', 'dismiss-event'],
        },
        skipped: [],
      }),
    ]);
    await handle.terminate();
  });
});

describe('the callbacks of a flow that was started in the clear', () => {
  const start = async (bench: Stack) => {
    const kycId = newReference('pending');
    return bench.startFlow('kyc-check', kycId, { [PLAINTEXT]: withCallback({ kycId }) });
  };

  it('are not sent', async () => {
    const bench = await open({ allowPlaintext: false });
    const handle = await start(bench);
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'plaintext_input' } });
    await expect(deliveryOf(bench, handle.workflowId).describe()).rejects.toThrow('not found');
    expect(caller.received).toEqual([]);
  });

  it('are sent if that is allowed', async () => {
    const bench = await open({ allowPlaintext: true });
    await start(bench);
    await caller.until((all) => all.length > 0);
    expect(stages()).toEqual(['tracking']);
  });
});
