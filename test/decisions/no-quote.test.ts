import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { NotSentError, type ServiceClient } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { ended, openDecisionBench, parked, READING_MS, refused, TIME_SCALE } from './bench.js';

describe('a deposit whose quote expired before it was sent, and that gets no new one', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  const expired = new Set<string>();
  let monotonicMs = 0;
  /** What happens when the new quote is refused. */
  let atRefusal = () => undefined as void;
  beforeAll(async () => {
    const replaced = (service: ServiceClient): Partial<ServiceClient> => ({
      quoteBridge: (body) => {
        if (expired.size === 0) return service.quoteBridge(body);
        atRefusal();
        return Promise.reject(refused('quoteBridge'));
      },
      createBridgeDeposit: ({ provider_reference_id: reference }) => {
        expired.add(reference);
        // Its connection took longer than the quote lived.
        monotonicMs += 60_000;
        return Promise.reject(new NotSentError('createBridgeDeposit', 'expired'));
      },
    });
    decisions = await openDecisionBench(replaced, { monotonicMs: () => monotonicMs });
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = async (word: string) => {
    expired.clear();
    const reference = newReference(word);
    const input = transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start(input);
    const phase = async () =>
      (await decisions.store.claims.get({ account: ACCOUNT, operation: 'createBridgeDeposit', reference }))?.phase;
    return { handle, phase };
  };

  test('ends as not sent, and its claim is void: no late attempt can send it', async () => {
    const { handle, phase } = await start('refused');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'quote_rejected' });
    expect(await phase()).toBe('void');
  });

  test('is no failure while the store cannot close its claim: a person is asked', async () => {
    const voids = jest.spyOn(decisions.store.claims, 'voidAll');
    atRefusal = () => void voids.mockRejectedValue(new StoreUnavailableError('AWAY', 'database'));
    const { handle, phase } = await start('store-away');
    await until('its claim to be closed', () => voids.mock.calls.length > 0);
    await decisions.bench.pass(READING_MS);
    expect((await parked(handle)).outcome).toBeNull();
    expect(await phase()).toBe('reserved');
    jest.restoreAllMocks();
    await handle.terminate();
  });
});
