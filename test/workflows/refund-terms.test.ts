import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const SERVICE_ADDRESS = '0xAbCdEf1111111111111111111111111111111111';

/** The refund terms in the service's answers to the next deposits, in place of the sandbox's. */
let refundConfig: Record<string, unknown> = {};

describe('a refund that is due', () => {
  let bench: Stack;
  let own: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 1 } });
    const service = {
      ...bench.deps.service,
      createBridgeDeposit: async (body: Parameters<typeof bench.deps.service.createBridgeDeposit>[0]) => {
        const answer = await bench.deps.service.createBridgeDeposit(body);
        return { ...answer, refund_config: { ...answer.refund_config, ...refundConfig } } as typeof answer;
      },
    };
    own = await openStack({ time: 'skipping', deps: { ...bench.deps, service } });
  });
  afterAll(async () => {
    await own.close();
    await bench.close();
  });
  beforeEach(() => bench.control('DELETE', '/faults'));

  const failed = async (word: string, auto: boolean, config: Record<string, unknown>) => {
    refundConfig = config;
    const reference = newReference(word);
    await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
    const handle = await own.start(transferInput(reference, { refund: { auto }, timeScale: 0.001 }));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED', { facts: { refundAnnounced: 'true' } })]);
    return { refund: `${reference}.refund`, handle };
  };

  test.each([
    ['a chain that crypto cannot be sent on', { chain: 'BINANCE' }],
    ['a token that cannot be sent', { token: 'BUSD' }],
    ['an amount of nothing', { refund_crypto_amount: '0' }],
    ['an empty address', { fallback_address: ' ' }],
  ])("to %s parks and stays due, by any person's order", async (_, config) => {
    for (const auto of [true, false]) {
      const { refund, handle } = await failed('unsendable', auto, config);
      const isParked = ({ view }: FlowReport) => view.parked?.reason === 'refund_needed';
      const { view } = await untilFlow(handle, isParked);
      expect(view.parked?.evidence).toMatchObject({ code: 'refund_not_sendable', refund: null });
      const order = handle.executeUpdate('resolve', { args: [{ action: 'refund-now', note: 'agreed', actor: 'ada' }] });
      await expect(order).rejects.toMatchObject({ cause: { type: 'refund_not_sendable' } });
      expect(await bench.executions('sendCrypto', refund)).toBe(0);
      await handle.executeUpdate('resolve', { args: [{ action: 'mark-refunded', note: 'by bank', actor: 'ada' }] });
      expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    }
  });

  test('to a chain in small letters is sent', async () => {
    const { refund, handle } = await failed('small', true, { chain: 'celo', token: 'usdc' });
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });

  test('to a checksummed address is known again by the status lookup, whose answer is in small letters', async () => {
    await bench.control('POST', '/faults', { operation: 'sendCrypto', kind: 'answer-lost', first: 1 });
    const lookedUp = own.deps.service.getCryptoSend;
    Object.assign(own.deps.service, {
      getCryptoSend: async (reference: string) => {
        const record = await lookedUp(reference);
        return { ...record, cryptoWallet: record.cryptoWallet?.toLowerCase() };
      },
    });
    const { refund, handle } = await failed('checksummed', true, { fallback_address: SERVICE_ADDRESS });
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
    expect(await bench.executions('sendCrypto', refund)).toBe(1);
  });
});
