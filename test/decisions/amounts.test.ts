import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';

/** Any Temporal client can start a flow: its amounts are checked like those at the gateway. */
describe('an amount that any Temporal client gives', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 10 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const send = (reference: string, token: string, cryptoAmount: unknown) =>
    bench.startFlow('crypto-send', reference, {
      receiverAddress: '0x1111111111111111111111111111111111111111',
      chain: 'CELO',
      token,
      cryptoAmount,
      referenceId: reference,
      timeScale: 0.005,
    });

  it.each([
    ['CUSD', '7.123456789012345678', /cryptoAmount: has more than 15 significant digits/],
    ['BTC', '0.000000005', /cryptoAmount: An amount in BTC has at most 8 decimals/],
  ])('ends the flow before any claim where it cannot be sent exactly: %s %s', async (token, amount, why) => {
    const reference = newReference('inexact');
    const handle = await send(reference, token, amount);
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'invalid_input', message: why } });
    expect(await bench.store.claims.ofFlow(handle.workflowId)).toEqual([]);
    expect(await bench.executions('sendCrypto', reference)).toBe(0);
  });

  it.each(['0.0000005', 0.0000005])('is sent to the last digit where it can: %p BTC', async (amount) => {
    const reference = newReference('tiny');
    const handle = await send(reference, 'BTC', amount);
    await handle.result();
    expect(await bench.executions('sendCrypto', reference)).toBe(1);
    expect(await bench.store.claims.ofFlow(handle.workflowId)).toMatchObject([
      { answer: { cryptoAmount: '0.0000005' } },
    ]);
  });
});
