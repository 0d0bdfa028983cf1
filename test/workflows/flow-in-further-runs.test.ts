import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { MAX_SIGNALS_PER_RUN } from '../../workflows/engine/policies.js';
import { gate } from '../decisions/bench.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => bench.terminateAll());
afterAll(() => bench.close());

/** So many signals that the flow goes on in a new run. */
async function goOn(handle: WorkflowHandle): Promise<void> {
  const { runId } = await handle.describe();
  for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await handle.signal('events', []);
  await until('the next run', async () => (await handle.describe()).runId !== runId);
}
const cancel = { args: [{ actor: 'ada' }] as [unknown] };

describe('a flow that goes on in a further run', () => {
  it('knows what was sent and answered, which events came, and sends nothing again', async () => {
    const reference = newReference('further');
    const handle = await bench.startFlow('crypto-send', reference, cryptoSend.input(reference));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const event = trusted('PROCESSING', { facts: { serviceReference: 'S-7' } });
    await handle.signal('events', [event]);
    const before = await untilFlow(handle, ({ events }) => events[event.id] === 'applied');
    const answer = await handle.executeUpdate('answer');
    expect(answer).toMatchObject({ kind: 'accepted' });

    await goOn(handle);
    const { view } = await reportOf(handle);
    const { startedAt, deadlineAt, stage, serviceReference } = before.view;
    expect(view).toMatchObject({ startedAt, deadlineAt, stage, serviceReference, state: 'running' });
    expect(serviceReference).toBe('S-7');
    expect(await handle.executeUpdate('answer')).toEqual(answer);
    await expect(handle.executeUpdate('cancel', cancel)).rejects.toThrow();
    await handle.signal('events', [event, trusted('PROCESSING')]);
    const { events } = await untilFlow(handle, (report) => Object.keys(report.events).length === 2);
    expect(Object.values(events)).toEqual(['applied', 'duplicate']);

    await bench.move(reference, 'SUCCESSFUL');
    await handle.signal('events', [trusted('SUCCESSFUL')]);
    await handle.result();
    const { view: ended } = await reportOf(handle);
    expect(ended.outcome).toMatchObject({ state: 'completed' });
    expect(entriesOf(ended, 'sending')).toHaveLength(1);
    expect(await bench.executions('sendCrypto', reference)).toBe(1);
  });

  it('goes on watching what it watched, with one entry about that', async () => {
    const kycId = newReference('pending');
    const handle = await bench.startFlow('kyc-check', kycId, { kycId });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await goOn(handle);
    const { view } = await reportOf(handle);
    expect(entriesOf(view, 'watching')).toHaveLength(1);
    expect(view.timeline[0]).toMatchObject({ stage: 'tracking', by: 'flow' });
    await handle.executeUpdate('cancel', cancel);
    await handle.result().catch(() => undefined);
    expect((await reportOf(handle)).view.outcome).toMatchObject({ state: 'cancelled' });
  });

  it('carries out the cancel that is recorded while it is about to go on', async () => {
    const kycId = newReference('pending');
    const handle = await bench.startFlow('kyc-check', kycId, { kycId });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const { audit } = bench.store;
    const append = audit.append.bind(audit);
    const recording = gate();
    const asked = gate();
    jest.spyOn(audit, 'append').mockImplementationOnce(async (...given) => {
      asked.open();
      await recording.opened;
      return append(...given);
    });
    const cancelled = handle.executeUpdate('cancel', cancel);
    await asked.opened;
    for (let count = 0; count < MAX_SIGNALS_PER_RUN; count += 1) await handle.signal('events', []);
    recording.open();
    expect(await cancelled).toEqual({ cancelled: true });
    await handle.result().catch(() => undefined);
    expect((await reportOf(handle)).view.outcome).toMatchObject({
      state: 'cancelled',
      reason: 'cancelled_before_sending',
    });
  });
});
