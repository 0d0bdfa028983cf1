import { describe, expect, test } from '@jest/globals';
import { UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { REFUND_INVOICE_NEEDED, type Meaning } from '../../src/protocol/statuses.js';
import { newPayment, type Payment, type RefundInvoice } from '../../workflows/engine/payment.js';
import { handleInvoiceNeeded, refundDueMsat, refundInvoice } from '../../workflows/refund-invoice.js';
import { trusted } from '../harness/inputs.js';

const GIVEN = {
  invoice: 'lnbc1',
  amountMsat: '20000',
  paymentHash: '00',
  payee: '02',
  expiresAt: 'soon',
  expiresAtMs: 1,
};
const NONE: RefundInvoice = { asked: false, facts: {}, given: null, handedOver: false };

function aPayment(provenMeanings: readonly Meaning[] = ['refund-pending']): Payment {
  const input = { chain: 'LIGHTNING', token: 'SAT', cryptoAmount: '21' };
  const prepared = { input, windows: {}, steps: {}, pin: {} } as unknown as Parameters<typeof newPayment>[0];
  return { ...newPayment(prepared), provenMeanings };
}
const asks = (facts: FlowEvent['facts'] = {}): FlowEvent => trusted(REFUND_INVOICE_NEEDED, { facts });

describe('an event that asks for a refund invoice', () => {
  test('is recorded with what it reports about the amount', () => {
    const payment = aPayment();
    handleInvoiceNeeded(payment, asks({ refundAmountMsat: '20000' }));
    expect(payment.refund).toEqual({ ...NONE, asked: true, facts: { refundAmountMsat: '20000' } });
  });

  test('asks once: a second copy of it changes nothing, and neither does another event', () => {
    const payment = { ...aPayment(), words: [REFUND_INVOICE_NEEDED] };
    handleInvoiceNeeded(payment, asks());
    expect(payment.refund).toBeUndefined();
    const other = aPayment();
    handleInvoiceNeeded(other, trusted('REFUND_PENDING'));
    expect(other.refund).toBeUndefined();
  });

  test('takes no invoice away that was given before it came', () => {
    const payment: Payment = { ...aPayment(), refund: { ...NONE, given: GIVEN, handedOver: true } };
    handleInvoiceNeeded(payment, asks());
    expect(payment.refund).toEqual({ asked: true, facts: {}, given: GIVEN, handedOver: true });
  });
});

describe('a person is needed for a refund invoice', () => {
  const isDue = (refund: Partial<RefundInvoice> | undefined, proven?: readonly Meaning[]) => {
    const payment = aPayment(proven);
    if (refund !== undefined) payment.refund = { ...NONE, ...refund };
    return refundInvoice.isDue(payment);
  };

  test.each([
    ['nothing was asked for', undefined, false],
    ['nothing is asked for any more', {}, false],
    ['one was asked for', { asked: true }, true],
    ['one was given, asked for or not', { given: GIVEN }, true],
    ['one was asked for and given', { asked: true, given: GIVEN }, true],
    ['one was handed over', { asked: true, given: GIVEN, handedOver: true }, false],
  ])('or not, if %s', (_, refund, due) => {
    expect(isDue(refund)).toBe(due);
  });

  test.each<[string, readonly Meaning[]]>([
    ['no refund is owed', ['pending']],
    ['nothing is known', []],
    ['it was refunded', ['refund-pending', 'refunded']],
    ['it was completed', ['refund-pending', 'succeeded']],
  ])('not if %s', (_, proven) => {
    expect(isDue({ asked: true }, proven)).toBe(false);
    expect(isDue({ given: GIVEN }, proven)).toBe(false);
  });
});

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
