import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { flowOf } from '../../src/flows/index.js';
import { tooMuch } from '../../src/flows/largest-amount.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { exampleInput, transferInput } from '../harness/inputs.js';
import { problemsOf } from './settings-at-fault.js';

describe('MAX_AMOUNTS', () => {
  it('limits nothing if it is not set', () => {
    expect(readSettings({}).maxAmounts.size).toBe(0);
  });

  it('is read in any case, with blanks and decimals', () => {
    expect([...readSettings({ MAX_AMOUNTS: 'kes:+150000.50, cUSD : 0.5,USDC:5e3' }).maxAmounts]).toEqual([
      ['KES', '150000.5'],
      ['CUSD', '0.5'],
      ['USDC', '5000'],
    ]);
  });

  it.each([
    ['KES', 'has no decimal number above zero, such as 150000 or 0.5, after the ":" of its entry 1'],
    ['KES:1,USDC:0', 'has no decimal number above zero, such as 150000 or 0.5, after the ":" of its entry 2'],
    ['KES:-5', 'has no decimal number above zero, such as 150000 or 0.5, after the ":" of its entry 1'],
    ['KES:1e99', 'has no decimal number above zero, such as 150000 or 0.5, after the ":" of its entry 1'],
    ['KES:150_000', 'has no decimal number above zero, such as 150000 or 0.5, after the ":" of its entry 1'],
    ['KES:1,', 'must be comma-separated currency:amount, such as KES:150000, and its entry 2 is not'],
    ['KES:1:2', 'must be comma-separated currency:amount, such as KES:150000, and its entry 1 is not'],
    ['5000:KES', 'must be comma-separated currency:amount, such as KES:150000, and its entry 1 is not'],
    ['KES:1,kes:2', 'names the currency of its entry 2 twice'],
  ])('is refused when it is %s, with the problem', (text, problem) => {
    expect(problemsOf({ MAX_AMOUNTS: text })).toEqual([`MAX_AMOUNTS ${problem}.`]);
  });
});

describe('the largest amount of a flow', () => {
  const bridge = flowOf('bridge-transfer');
  const above = (amount: string, currency: string, limit: string) =>
    tooMuch(bridge, bridge.input.parse(transferInput('r', { amount })), new Map([[currency, limit]]));

  it('is allowed exactly, and not the smallest part more', () => {
    expect(above('150000', 'KES', '150000')).toBeUndefined();
    expect(above('150000.01', 'KES', '150000')).toMatchObject({
      path: 'amount',
      message: expect.stringContaining('150000 KES'),
    });
    expect(above('9999999999999.9', 'KES', '9999999999999.89')).toBeDefined();
    expect(above('150000.01', 'ZMW', '1')).toBeUndefined();
  });

  it.each(FLOW_KINDS.filter((kind) => flowOf(kind).moneyOf !== undefined))(
    'is compared with the member of %s that holds the amount',
    async (kind) => {
      const flow = flowOf(kind);
      const { card, ...example } = await exampleInput(kind, 'order-1');
      const taken = card === undefined ? {} : { cardToken: `towline-cards-${'A'.repeat(32)}.${'A'.repeat(43)}` };
      const input = flow.input.parse({ ...example, ...taken });
      const money = flow.moneyOf?.(input);
      const limits = new Map([[money?.currency.toUpperCase() ?? '', '0.000001']]);
      const path = tooMuch(flow, input, limits)?.path ?? '';
      const said = path.split('.').reduce<unknown>((at, member) => (at as Record<string, unknown>)[member], input);
      expect(said).toBe(money?.amount);
    },
  );

  it('of Bitcoin holds in each of its units', () => {
    const limited = (amount: string, currency: string, unit: string, limit: string) =>
      tooMuch({ moneyOf: () => ({ amount, currency, member: 'amount' }) }, {}, new Map([[unit, limit]])) !== undefined;
    for (const [currency, most, more] of [
      ['BTC', '0.05', '0.050000001'],
      ['SAT', '5000000', '5000001'],
      ['MSAT', '5000000000', '5000000001'],
    ] as const) {
      for (const [unit, limit] of [
        ['BTC', '0.05'],
        ['SAT', '5000000'],
      ] as const) {
        expect(limited(most, currency, unit, limit)).toBe(false);
        expect(limited(more, currency, unit, limit)).toBe(true);
      }
      expect(limited(more, currency, 'USDC', '1')).toBe(false);
    }
  });

  it('of a bridge transfer is that of each amount it names: what leaves the payer, what the recipient gets, what comes in', () => {
    const settlement = { ...(transferInput('r')['settlement'] as object), amount: 100_000, currency: 'ZAR' };
    const at = (more: object, unit: string, limit: string) =>
      tooMuch(bridge, bridge.input.parse({ ...transferInput('r', { amount: '1' }), ...more }), new Map([[unit, limit]]))
        ?.path;
    expect(at({ settlement }, 'ZAR', '99999')).toBe('settlement.amount');
    expect(at({ settlement }, 'ZAR', '100000')).toBeUndefined();
    const paysIn = (payment: object, token = 'USDC', chain = 'BASE') => ({
      token,
      chain,
      crypto_payment: { address: `0x${'1'.repeat(40)}`, ...payment },
    });
    expect(at(paysIn({ crypto_amount: '8' }), 'USDC', '7.9')).toBe('crypto_payment.crypto_amount');
    expect(at(paysIn({ crypto_amount: '8' }), 'USDC', '8')).toBeUndefined();
    expect(at(paysIn({ amount_msat: '5000000001' }), 'BTC', '0.05')).toBe('crypto_payment.amount_msat');
    // Of a token that counts parts of a satoshi, less than one is in bitcoins.
    expect(at(paysIn({ crypto_amount: '0.06' }, 'MSAT', 'LIGHTNING'), 'BTC', '0.05')).toBe(
      'crypto_payment.crypto_amount',
    );
  });

  it('of an invoice is what the payer was asked to pay', async () => {
    const invoice = flowOf('invoice-payment');
    const { payment, ...given } = await exampleInput('invoice-payment', 'order-1');
    const paid = { ...given, payment: { ...(payment as object), amount: '90000', currency: 'KES' } };
    expect(tooMuch(invoice, invoice.input.parse(paid), new Map([['KES', '80000']]))?.path).toBe('payment.amount');
  });
});
