import { describe, expect, test } from '@jest/globals';
import { readLightningInvoice } from '../../src/flows/lightning-invoice.js';
import { refundDueMsat } from '../../workflows/refund-invoice.js';
import { bolt11 } from './bolt11.js';

/** An example of BOLT 11: 2,500 µBTC, good for a minute. */
const EXAMPLE =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh';

describe('a Lightning invoice', () => {
  test('is read as the standard says', () => {
    expect(readLightningInvoice(EXAMPLE)).toEqual({
      network: 'bc',
      amountMsat: '250000000',
      paymentHash: '0001020304050607080900010203040506070809000102030405060708090102',
      expiresAtMs: (1_496_314_658 + 60) * 1_000,
    });
    expect(readLightningInvoice(` lightning:${EXAMPLE.toUpperCase()}\n`)?.amountMsat).toBe('250000000');
  });

  test('lives for an hour if it does not say how long, and may leave its amount open', () => {
    const createdAtMs = 1_700_000_000_000;
    expect(readLightningInvoice(bolt11({ amountMsat: null, createdAtMs }))).toMatchObject({
      amountMsat: null,
      expiresAtMs: createdAtMs + 3_600_000,
    });
    expect(readLightningInvoice(bolt11({ amountMsat: 12_345, network: 'bcrt' }))).toMatchObject({
      network: 'bcrt',
      amountMsat: '12345',
    });
  });

  test.each([
    ['a wrong character', EXAMPLE.replace('ezsp5', 'ezsp4')],
    ['a cut end', EXAMPLE.slice(0, -7)],
    ['an address', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['nothing', ''],
    ['an amount beyond all bitcoin', bolt11({ amountMsat: 0 }).replace('0p1', '99999999999999999999p1')],
  ])('is not taken with %s', (_, text) => {
    expect(readLightningInvoice(text)).toBeUndefined();
  });
});

describe('what a refund over Lightning comes to', () => {
  test.each([
    ['what came in, in satoshi', { cryptoAmount: '21', token: 'SAT' }, {}, '21000'],
    ['what came in, in bitcoin', { cryptoAmount: '0.00000021', token: 'BTC' }, {}, '21000'],
    ['what came in, in thousandths', { cryptoAmount: '21', token: 'MSAT' }, {}, '21'],
    ['less, if the service keeps a fee', { cryptoAmount: '21', token: 'SAT' }, { refundCryptoAmount: '20' }, '20000'],
    ['what the service tells exactly', { cryptoAmount: '21', token: 'SAT' }, { refundAmountMsat: '20500' }, '20500'],
    ['never more than came in', { cryptoAmount: '21', token: 'SAT' }, { refundAmountMsat: '99999' }, '21000'],
    ['nothing that can be told of another token', { cryptoAmount: '21', token: 'USDC' }, {}, null],
  ] as const)('%s', (_, offramp, told, due) => {
    expect(refundDueMsat(offramp, told)).toBe(due);
  });
});
