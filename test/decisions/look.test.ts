import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { untilFlow } from '../harness/reports.js';
import { ended, openDecisionBench, parked, resolve, startSend, TIME_SCALE } from './bench.js';

const MINUTE_MS = 60_000;

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
const looked: string[] = [];
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    getCryptoSend: (reference) => {
      looked.push(reference);
      return service.getCryptoSend(reference);
    },
  }));
});
afterEach(() => void jest.restoreAllMocks());
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const tracked = async (word: string, more: Record<string, unknown>) => {
  const { reference, handle } = await startSend(decisions.bench, word, more);
  await untilFlow(handle, ({ view }) => view.stage === 'tracking');
  return { handle, looks: () => looked.filter((one) => one === reference).length };
};

const overdue = async (word: string) => {
  const { handle } = await tracked(word, { deadlineSeconds: 600 });
  await decisions.bench.pass(600_000 * TIME_SCALE);
  expect((await parked(handle)).parked?.reason).toBe('no_settlement');
  return handle;
};

test('a payment is looked up often soon after it was sent, and seldom while a person is asked', async () => {
  const { handle, looks } = await tracked('cadence', { timeScale: 1, deadlineSeconds: 60 });
  await decisions.bench.pass(29_000);
  const soon = looks();
  expect(soon).toBeGreaterThan(5);
  await decisions.bench.pass(32_000);
  await parked(handle);
  const before = looks();
  await decisions.bench.pass(29_000);
  expect(looks() - before).toBeLessThan(5);
  await handle.terminate();
});

test('a person who keeps a payment waiting ends the lookups that were made meanwhile: it is looked up as often as before', async () => {
  const { handle, looks } = await tracked('kept-waiting', { timeScale: 1, deadlineSeconds: 310 });
  await decisions.bench.pass(5 * MINUTE_MS);
  const before = looks();
  await decisions.bench.pass(11_000);
  await parked(handle);
  await resolve(handle, 'keep-waiting');
  await untilFlow(handle, ({ view }) => view.state === 'running');
  const resumedAt = looks();
  await decisions.bench.pass(5 * MINUTE_MS);
  // Those made for the parked flow would be eight more.
  expect(Math.abs(looks() - resumedAt - before)).toBeLessThan(4);
  await handle.terminate();
});

test('a flow that has ended, and has yet to say that it is no longer parked, refuses a cancel: it has ended', async () => {
  const handle = await overdue('has-ended');
  const matters = decisions.store.matters;
  const away = () => Promise.reject(new StoreUnavailableError('AWAY', 'database'));
  jest.spyOn(matters, 'resolve').mockImplementation(away);
  await resolve(handle, 'mark-completed');
  expect(await ended(handle)).toMatchObject({ state: 'completed' });
  await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toMatchObject({
    cause: { type: 'flow_ended' },
  });
  await decisions.bench.pass(MINUTE_MS);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});
