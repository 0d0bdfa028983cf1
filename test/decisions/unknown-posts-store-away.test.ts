import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { ended, noted, openDecisionBench, parked, READING_MS, resolve, startSend } from './bench.js';

const MINUTE_MS = 60_000;

describe('a crypto send whose answer was lost, while the store does not answer', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let isExecuted = false;
  let whenSent: (() => unknown) | undefined;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async sendCrypto(body) {
        if (isExecuted) await service.sendCrypto(body);
        whenSent?.();
        throw new UnknownOutcomeError('sendCrypto', 'timeout');
      },
      async getCryptoSend(reference) {
        if (isExecuted) return service.getCryptoSend(reference);
        const refusal = { httpStatus: 404, message: 'no such transaction', fields: [], isRateExpired: false };
        throw new RejectedError('getCryptoSend', { ...refusal, isAboutReference: false, saysNoRecord: true });
      },
    }));
  });
  afterEach(() => void jest.restoreAllMocks());
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const away = () => Promise.reject(new StoreUnavailableError('AWAY', 'database'));

  test('is not closed by an order, which the timeline records; once the store is back, it is closed by another one', async () => {
    isExecuted = false;
    const { handle } = await startSend(decisions.bench, 'not-closed', { deadlineSeconds: 360_000 });
    await parked(handle);
    const closing = jest.spyOn(decisions.store.claims, 'closeNotExecuted').mockImplementation(away);
    await Promise.all([
      expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({ cause: { type: 'store_unavailable' } }),
      decisions.bench.pass(READING_MS),
    ]);
    const { view } = await noted(handle, 'not-closed');
    expect(view.outcome).toBeNull();
    closing.mockRestore();
    await parked(handle);
    await resolve(handle, 'close-not-executed');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'not_executed' } });
  });

  test('waits for two minutes beyond its settle window before a person is asked', async () => {
    isExecuted = true;
    const asking = jest.spyOn(decisions.store.claims, 'get');
    whenSent = () => asking.mockImplementation(away);
    const { handle } = await startSend(decisions.bench, 'patient', { timeScale: 1, deadlineSeconds: 360_000 });
    await noted(handle, 'outcome-unknown');
    await decisions.bench.pass(3 * MINUTE_MS);
    const { view } = await handle.query<FlowReport>('flow');
    expect([view.stage, view.parked]).toEqual(['outcome-unknown', null]);
    asking.mockRestore();
    await decisions.bench.pass(2 * MINUTE_MS);
    await noted(handle, 'accepted');
    await handle.terminate();
  });
});
