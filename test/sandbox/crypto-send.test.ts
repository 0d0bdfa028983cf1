import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CryptoSend } from '../../src/contract/onramp.js';
import { type Rig, SEND, startRig, STEP_MS } from './start.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const send = (over = {}) =>
  rig.call('POST', SEND, {
    receiverAddress: '0xabc',
    chain: 'CELO',
    token: 'CUSD',
    cryptoAmount: 5.5,
    referenceId: 's1',
    ...over,
  });
const lookup = async (reference = 's1') => (await rig.call('GET', `${SEND}/${reference}`)).body.data;

describe('a crypto send of the sandbox', () => {
  it('is PENDING, then SUCCESSFUL with a transaction hash', async () => {
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(CryptoSend.parse(answer.body.data)).toMatchObject({ referenceId: 's1', status: 'PENDING' });
    expect(answer.body.data.transactionHash).toBeUndefined();
    await rig.advance(STEP_MS);
    const sent = CryptoSend.parse(await lookup());
    expect(sent).toMatchObject({ status: 'SUCCESSFUL', cryptoAmount: '5.5', cryptoAmountReceived: '5.5' });
    expect(sent.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it('is 404 to a lookup of an unknown reference', async () => {
    const answer = await rig.call('GET', `${SEND}/none`);
    expect([answer.status, answer.body.success]).toEqual([404, false]);
  });

  it.each([
    ['failed', 'FAILED'],
    ['never', 'PENDING'],
    ['slow', 'PENDING'],
  ])('ends as the scenario %s has it', async (ending, status) => {
    await rig.control('POST', '/scenarios', { reference: 's1', ending });
    await send();
    await rig.advance(10 * STEP_MS);
    expect((await lookup()).status).toBe(status);
  });

  it('ends, or is refused, by its magic amount', async () => {
    await send({ cryptoAmount: 5.13 });
    await rig.advance(STEP_MS);
    expect((await lookup()).status).toBe('FAILED');
    const refused = await send({ referenceId: 's2', cryptoAmount: 5.42 });
    expect([refused.status, refused.body.message]).toEqual([400, 'Insufficient Funds']);
    expect(await rig.executions('s2', 'sendCrypto')).toBe(0);
    // The failed amount came back into the wallet.
    const { balances } = (await rig.control('GET', '/ledger')).body;
    expect(balances['wallet:integrator']).toEqual({ CUSD: '0' });
  });

  it('to the refund address of a failed deposit gives the customer the fiat back, once', async () => {
    const crypto_payment = { address: '0xdef', crypto_amount: 7.5 };
    await rig.control('POST', '/scenarios', { reference: 'r1', ending: 'failed-no-refund' });
    const deposit = await rig.deposit('r1', { chain: 'CELO', token: 'CUSD', crypto_payment });
    await rig.advance(20 * STEP_MS);
    const held = async () => (await rig.control('GET', '/ledger?reference=r1')).body.balances['service:held'].KES;
    expect(await held()).toBe('1000');
    const { fallback_address, refund_crypto_amount } = deposit.body.data.refund_config;
    const refund = { receiverAddress: fallback_address, cryptoAmount: refund_crypto_amount };
    for (const referenceId of ['r1.refund', 'again']) {
      await send({ referenceId, ...refund });
      await rig.advance(STEP_MS);
    }
    expect(await held()).toBe('0');
    const { entries } = (await rig.control('GET', '/ledger?reference=r1')).body;
    expect(entries.filter(({ kind }: { kind: string }) => kind === 'refund')).toHaveLength(1);
    expect((await rig.statuses('r1')).at(-1)).toBe('FAILED');
  });
});
