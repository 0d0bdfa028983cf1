import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/flows/messages.js';
import { newReference, openBench, transferInput, trusted, until, type Bench } from './bench.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({ time: 'real', sandbox: { stepMs: 3_600_000 } });
});
afterAll(() => bench.close());

/** Lets calls of a function wait until they are released. */
function held<Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) {
  const gate: { open: () => void } = { open: () => undefined };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  return { release: () => gate.open(), call: async (...args: Args) => opened.then(() => call(...args)) };
}

test('a flow that has ended, and still waits to close, takes no event any more: it is listed as late', async () => {
  const deposit = held(bench.deps.service.createBridgeDeposit);
  const voiding = held(bench.store.claims.voidUnsent.bind(bench.store.claims));
  Object.assign(bench.deps.service, { createBridgeDeposit: deposit.call });
  Object.assign(bench.store.claims, { voidUnsent: voiding.call });
  const reference = newReference('closing');
  await bench.control('POST', '/scenarios', { reference, ending: 'rejected' });
  const handle = await bench.start(transferInput(reference));
  await until(handle, ({ view }) => view.stage === 'depositing');
  // The flow cannot close before it has answered this.
  await handle.startUpdate('cancel', { waitForStage: 'ACCEPTED', args: [{ actor: 'ada' }] });
  deposit.release();
  await until(handle, ({ view }) => view.outcome?.reason === 'rejected_by_service');
  const late = trusted('COMPLETED');
  await handle.signal('events', [late]);
  expect((await handle.query<FlowReport>('flow')).events).toEqual({});
  voiding.release();
  await handle.result().catch(() => undefined);
  expect((await handle.query<FlowReport>('flow')).events).toEqual({});
});
