import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { compareAmounts } from '../../src/money.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { mostToRefund, smallest } from '../../workflows/bridge/came-in.js';

const amount = fc.tuple(fc.nat(1_000), fc.nat(99)).map(([whole, rest]) => `${whole}.${String(rest).padStart(2, '0')}`);
const said = fc.record(
  { cryptoAmount: amount, refundCryptoAmount: amount, amountMsat: fc.nat(9_999_999).map(String), chain: fc.string() },
  { requiredKeys: [] },
);
const asked = (payment: object, token = 'USDC') => ({ token, crypto_payment: payment }) as never;

describe('what may be sent back', () => {
  it('is never more than was to come in, nor than any event reports, in whatever order they come', () => {
    fc.assert(
      fc.property(amount, fc.array(said, { maxLength: 6 }), (wanted, events) => {
        const most = mostToRefund(asked({ crypto_amount: wanted }), events.reduce(smallest, {}));
        const limits = events.flatMap(({ cryptoAmount, refundCryptoAmount }) => [cryptoAmount, refundCryptoAmount]);
        const all = [wanted, ...limits.filter((limit) => limit !== undefined)];
        expect(all.every((limit) => compareAmounts(String(most), limit) <= 0)).toBe(true);
        expect(all).toContain(most);
        expect(mostToRefund(asked({ crypto_amount: wanted }), events.toReversed().reduce(smallest, {}))).toBe(most);
      }),
    );
  });

  it('is not known if the input names no amount, or if less came in by an amount in another unit', () => {
    expect(mostToRefund(asked({ amount_msat: '7500' }), {})).toBeNull();
    expect(mostToRefund(asked({ amount_msat: '7500' }, 'MSAT'), { amountMsat: '5000' })).toBe('5000');
    const both = { crypto_amount: '7.5', amount_msat: '7500' };
    expect(mostToRefund(asked(both, 'BTC'), { amountMsat: '5000' })).toBeNull();
    expect(mostToRefund(asked(both, 'BTC'), { amountMsat: '7500' })).toBe('7.5');
  });

  it('is in thousandths of a satoshi for MSAT, and not known by an amount in bitcoins that is not all of it', () => {
    const payment = { amount_msat: '10000000', crypto_amount: '0.0001' };
    const most = (facts: object, input: object = payment) => mostToRefund(asked(input, 'MSAT'), facts as never);
    expect(most({})).toBe('10000000');
    expect(most({ cryptoAmount: '0.0001', amountMsat: '10000000' })).toBe('10000000');
    expect(most({ amountMsat: '5000000' })).toBe('5000000');
    expect(most({ refundCryptoAmount: '5000000' })).toBe('5000000');
    expect(most({ cryptoAmount: '0.00005' })).toBeNull();
    expect(most({}, { crypto_amount: '0.0001' })).toBeNull();
  });

  it('keeps when it came in, whatever comes before or after', () => {
    const facts = [{ cryptoAmount: '5' }, { cryptoReceivedAt: '2026-01-01T00:00:00Z' }, {}];
    for (const events of [facts, facts.toReversed()]) {
      expect(events.reduce(smallest, {})).toEqual({ cryptoAmount: '5', cryptoReceivedAt: '2026-01-01T00:00:00Z' });
    }
  });

  it('keeps that something came in at a time that cannot be read, and any time that can be read before it', () => {
    const unread = { cryptoReceivedAt: UNREADABLE };
    expect([unread, {}].reduce(smallest, {})).toEqual(unread);
    const read = { cryptoReceivedAt: '2026-01-01T00:00:00Z' };
    expect([unread, read].reduce(smallest, {})).toEqual(read);
    expect([read, unread].reduce(smallest, {})).toEqual(read);
    expect(Object.keys(smallest({}, { chain: 'CELO' }))).toEqual([]);
  });

  it('keeps that one of the events could not be read, whatever comes before or after', () => {
    const events = [{ body: UNREADABLE }, { cryptoAmount: '5' }];
    for (const order of [events, events.toReversed()]) {
      expect(order.reduce(smallest, {})).toEqual({ body: UNREADABLE, cryptoAmount: '5' });
    }
  });

  it.each(['cryptoAmount', 'amountMsat', 'refundCryptoAmount'])(
    'is not known once an event gives a %s that cannot be read, whatever others say',
    (name) => {
      const [unreadable, read] = [{ [name]: UNREADABLE }, { [name]: '5' }];
      for (const events of [[unreadable], [unreadable, read], [read, unreadable]]) {
        expect(mostToRefund(asked({ crypto_amount: '7.5' }), events.reduce(smallest, {}))).toBeNull();
      }
    },
  );
});
