import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { reportOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { gate } from './bench.js';

const cancel = { args: [{ actor: 'ada', note: 'by mistake' }] as [unknown] };

/** Why an update was refused. */
const refusalOf = (update: Promise<unknown>) =>
  update.then(
    () => 'not refused',
    ({ cause }: { cause?: { type?: string } }) => cause?.type ?? '',
  );

describe('an order that cannot be recorded', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  });
  afterEach(() => void jest.restoreAllMocks());
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const watched = async (more: object = {}) => {
    const kycId = newReference('pending');
    const handle = await bench.startFlow('kyc-check', kycId, { kycId, ...more });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { handle, kycId };
  };

  test('is refused after a minute, and is not recorded or carried out later', async () => {
    const { handle } = await watched();
    const asked = gate();
    const append = jest.spyOn(bench.store.audit, 'append').mockImplementation(() => {
      asked.open();
      return Promise.reject(new StoreUnavailableError('SQLITE_BUSY', 'file'));
    });
    const refusal = refusalOf(handle.executeUpdate('cancel', cancel));
    await asked.opened;
    await bench.pass(40_000);
    expect((await reportOf(handle)).view.outcome).toBeNull();
    await bench.pass(40_000);
    expect(await refusal).toBe('store_unavailable');
    const tries = append.mock.calls.length;
    expect(tries).toBeGreaterThan(1);
    await bench.pass(600_000);
    expect(append).toHaveBeenCalledTimes(tries);
    expect((await reportOf(handle)).view).toMatchObject({ state: 'running', outcome: null });
    append.mockRestore();
    expect(await handle.executeUpdate('cancel', cancel)).toEqual({ cancelled: true });
  });

  test('is tried more often if the time of its flow is scaled, and for fifteen seconds in any case', async () => {
    const { handle } = await watched({ timeScale: 0.01 });
    const asked = gate();
    const append = jest.spyOn(bench.store.audit, 'append').mockImplementation(() => {
      asked.open();
      return Promise.reject(new StoreUnavailableError('SQLITE_BUSY', 'file'));
    });
    const seen = { refusal: '' };
    const refusal = refusalOf(handle.executeUpdate('cancel', cancel)).then((said) => (seen.refusal = said));
    await asked.opened;
    await bench.pass(12_000);
    expect(seen.refusal).toBe('');
    // After 20 ms, 40 ms … 600 ms, and then every 600 ms.
    const tries = append.mock.calls.length;
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(60);
    await bench.pass(5_000);
    expect(await refusal).toBe('store_unavailable');
    await handle.terminate();
  });

  test('is refused at once when its flow ends', async () => {
    const { handle, kycId } = await watched();
    const asked = gate();
    const recording = gate();
    const { audit } = bench.store;
    const append = audit.append.bind(audit);
    jest.spyOn(audit, 'append').mockImplementation(async (...given) => {
      asked.open();
      await recording.opened;
      return append(...given);
    });
    const refusal = refusalOf(handle.executeUpdate('cancel', cancel));
    await asked.opened;
    await bench.move(kycId, 'APPROVED');
    await handle.signal('events', [trusted('APPROVED')]);
    expect(await refusal).toBe('flow_ended');
    recording.open();
    await handle.result();
    expect((await reportOf(handle)).view.outcome).toMatchObject({ state: 'completed' });
  });
});
