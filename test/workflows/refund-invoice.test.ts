import { describe, expect, test } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { refundDueMsat } from '../../workflows/engine/refund-amounts.js';

describe('how much a refund over Lightning is', () => {
  const IN_SATOSHI = { cryptoAmount: '21', token: 'SAT' } as const;
  test.each([
    ['its exact amount cannot be read', { refundAmountMsat: UNREADABLE }],
    ['its amount cannot be read', { refundCryptoAmount: UNREADABLE }],
    ['one of both cannot be read', { refundAmountMsat: '20000', refundCryptoAmount: UNREADABLE }],
  ])('is not known if %s', (_, facts) => {
    expect(refundDueMsat(IN_SATOSHI, facts)).toBeNull();
  });

  test.each([
    ['what came in, in satoshi', { cryptoAmount: '21', token: 'SAT' }, {}, '21000'],
    ['what came in, in bitcoin', { cryptoAmount: '0.00000021', token: 'BTC' }, {}, '21000'],
    ['what came in, in thousandths', { cryptoAmount: '21', token: 'MSAT' }, {}, '21'],
    ['less, if the service keeps a fee', { cryptoAmount: '21', token: 'SAT' }, { refundCryptoAmount: '20' }, '20000'],
    ['what the service reports exactly', { cryptoAmount: '21', token: 'SAT' }, { refundAmountMsat: '20500' }, '20500'],
    ['never more than came in', { cryptoAmount: '21', token: 'SAT' }, { refundAmountMsat: '99999' }, '21000'],
    ['not known in another token', { cryptoAmount: '21', token: 'USDC' }, {}, null],
  ] as const)('is %s', (_, offramp, reported, due) => {
    expect(refundDueMsat(offramp, reported)).toBe(due);
  });

  test('is the exact amount, if both are reported', () => {
    expect(refundDueMsat(IN_SATOSHI, { refundAmountMsat: '20500', refundCryptoAmount: '20' })).toBe('20500');
  });

  test('is at most what came in, however the service expresses it', () => {
    expect(refundDueMsat(IN_SATOSHI, { refundCryptoAmount: '22' })).toBe('21000');
    expect(refundDueMsat(IN_SATOSHI, { refundCryptoAmount: '21' })).toBe('21000');
  });

  test('is what the service reports in thousandths of a satoshi, if the token is not one of Bitcoin’s', () => {
    const other = { cryptoAmount: '21', token: 'USDC' } as const;
    expect(refundDueMsat(other, { refundAmountMsat: '99999' })).toBe('99999');
    expect(refundDueMsat(other, { refundCryptoAmount: '20' })).toBeNull();
  });
});
