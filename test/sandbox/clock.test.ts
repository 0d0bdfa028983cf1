import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Rig, startRig, STEP_MS } from './start.js';
import { until } from '../harness/until.js';

let rig: Rig;
const clock = async () => (await rig.control('GET', '/clock')).body as { now: string; frozen: boolean };

describe('the clock of the sandbox,', () => {
  describe('frozen,', () => {
    beforeEach(async () => {
      rig = await startRig();
    });
    afterEach(() => rig.close());

    it('stands still, and moves exactly as far as ordered', async () => {
      const before = await clock();
      expect(before.frozen).toBe(true);
      expect(await clock()).toEqual(before);
      await rig.advance(90_061_001);
      expect(Date.parse((await clock()).now) - Date.parse(before.now)).toBe(90_061_001);
    });

    it('delivers what falls due in order, each at its own time', async () => {
      const begin = Date.parse((await clock()).now);
      await rig.deposit('a');
      await rig.advance(STEP_MS / 2);
      await rig.deposit('b');
      await rig.advance(30 * STEP_MS);
      const seen = rig.receiver.received.map(({ body }) => ({
        reference: body.provider_reference_id as string,
        after: Date.parse(body.timestamp as string) - begin,
      }));
      expect(seen.slice(0, 4)).toEqual([
        { reference: 'a', after: STEP_MS },
        { reference: 'b', after: 1.5 * STEP_MS },
        { reference: 'a', after: 2 * STEP_MS },
        { reference: 'b', after: 2.5 * STEP_MS },
      ]);
      expect(seen).toHaveLength(10);
    });

    it('delivers what a request makes due at once', async () => {
      const { body } = await rig.deposit('a');
      await rig.call('POST', '/api/v3/deposit/crypto-bridge/webhook/provider/settlement', {
        webhook_type: 'x',
        provider_reference_id: 'a',
        kotani_reference_id: body.data.kotani_reference_id,
        status: 'SETTLING',
        timestamp: '2025-01-01T00:00:00Z',
        crypto_payment: {},
      });
      await until('one callback', () => rig.receiver.received.length === 1);
    });

    it('continues from where it stopped once it is unfrozen, and can be advanced while it runs', async () => {
      const before = await clock();
      await rig.control('POST', '/clock', { unfreeze: true });
      await rig.deposit('a');
      await rig.advance(20 * STEP_MS);
      expect((await rig.statuses('a')).at(-1)).toBe('COMPLETED');
      const after = await clock();
      expect(after.frozen).toBe(false);
      const passed = Date.parse(after.now) - Date.parse(before.now);
      expect(passed).toBeGreaterThanOrEqual(20 * STEP_MS);
      expect(passed).toBeLessThan(30 * STEP_MS);
    });

    it('refuses unknown orders as 400', async () => {
      for (const body of [{}, { advanceMs: -1 }, { freeze: false }, { freeze: true, advanceMs: 1 }]) {
        expect((await rig.control('POST', '/clock', body)).status).toBe(400);
      }
    });
  });

  it('running, carries a transfer to its end by itself', async () => {
    rig = await startRig({ frozen: false, stepMs: 5 });
    await rig.deposit('a');
    await until('the callback of COMPLETED', () =>
      rig.receiver.received.some(({ body }) => body.status === 'COMPLETED'),
    );
    expect((await rig.statuses('a')).at(-1)).toBe('COMPLETED');
    await rig.close();
  });
});
