import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig({ liveOperations: true });
});
afterEach(() => rig.close());

describe('the sandbox, for operations that only the live service has,', () => {
  it.each([
    ['createOnramp', '/api/v3/onramp/r1'],
    ['createBankWithdrawal', '/api/v3/withdraw/status/r1'],
    ['createCardDeposit', '/api/v3/deposit/card/r1'],
  ] as const)('look %s up', async (name, path) => {
    expect((await rig.call('GET', path)).status).toBe(404);
    await create(rig, name, 'r1');
    expect((await rig.call('GET', path)).body).toMatchObject({ success: true, data: { status: 'PENDING' } });
    await rig.advance(10 * STEP_MS);
    expect((await rig.call('GET', path)).body.data.status).toBe('SUCCESSFUL');
    expect((await rig.call('GET', path, undefined, null)).status).toBe(401);
  });

  it('look a bridge deposit up, by either reference', async () => {
    const { body } = await rig.deposit('b1');
    for (const reference of ['b1', body.data.kotani_reference_id as string]) {
      const found = await rig.call('GET', `/api/v3/deposit/crypto-bridge/status/${reference}`);
      expect(found.body.data).toMatchObject({ provider_reference_id: 'b1', status: 'DEPOSIT_INITIATED' });
    }
  });

  it('take the invoice of a refund', async () => {
    const submit = () => rig.call('POST', '/api/v3/offramp/submit-refund-invoice/r1', { invoice: 'lnbc1' });
    expect((await submit()).status).toBe(404);
    await create(rig, 'createOfframp', 'r1', { cryptoAmount: 10.26 });
    expect((await submit()).status).toBe(400);
    await rig.advance(10 * STEP_MS);
    expect((await submit()).status).toBe(200);
    expect((await rig.call('GET', '/api/v3/offramp/r1')).body.data.status).toBe('REFUNDED');
  });

  it('refresh a session, and list banks', async () => {
    const { body } = await rig.call('POST', '/api/v3/auth/human-verify', { verificationToken: 't' }, null);
    const refresh = (token: string) => rig.call('GET', '/api/v3/auth/refresh-token', undefined, token);
    const fresh = await refresh(body.data.refresh_token as string);
    expect((await rig.call('GET', '/api/v3/kyc/status/k', undefined, fresh.body.data.token)).status).toBe(200);
    expect((await refresh(body.data.token as string)).status).toBe(401);
    const banks = async (currency: string) =>
      (await rig.call('GET', `/api/v3/withdraw/v2/bank/supporting-banks/${currency}`)).body.data.banks as unknown[];
    expect([(await banks('ZAR')).length > 0, (await banks('KES')).length]).toEqual([true, 0]);
  });

  it('exist only with the setting', async () => {
    await create(rig, 'createOnramp', 'r1');
    await rig.control('POST', '/settings', { liveOperations: false });
    expect((await rig.call('GET', '/api/v3/onramp/r1')).status).toBe(404);
  });
});
