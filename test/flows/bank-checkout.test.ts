import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bankCheckoutFlow } from '../../src/flows/bank-checkout.js';
import { type Stack, openStack } from '../harness/stack.js';
import { expectRefused, startAs, type ToldByEvents } from './told-by-events-setup.js';
import { behavesAsToldByEvents } from './told-by-events.js';

const CHECKOUT: ToldByEvents = {
  kind: 'bank-checkout',
  operation: 'createBankCheckout',
  input: (referenceId) => ({
    referenceId,
    fullName: 'Canary Customer',
    phoneNumber: '+27821234567',
    paymentMethod: 'PAYBYBANK',
    currency: 'ZAR',
    amount: '250.50',
    customerRedirectUrl: 'https://shop.example/paid',
  }),
  failures: ['FAILED', 'CANCELLED', 'DECLINED', 'EXPIRED'],
};

describe('a bank checkout', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.control('DELETE', '/faults'));

  behavesAsToldByEvents(CHECKOUT, () => bench);

  test('hands out what the service answered, for the customer to be sent on', async () => {
    const { reference, handle } = await startAs(bench, CHECKOUT, 'answer');
    expect(await handle.executeUpdate('answer')).toMatchObject({
      kind: 'accepted',
      answer: { referenceId: reference, paymentMethod: 'PAYBYBANK', customerRedirectUrl: 'https://shop.example/paid' },
    });
    await handle.terminate();
  });

  test('reads payment.confirmed, whose name says it all, with a status and without', () => {
    const read = (event: string, data: object) =>
      bankCheckoutFlow.readEvent({ event, data: { reference_id: 'r', ...data } })?.status;
    expect(read('payment.confirmed', {})).toBe('CONFIRMED');
    expect(read('payment.confirmed', { status: 'SUCCESSFUL' })).toBe('SUCCESSFUL');
    expect(read('transaction.deposit.status.updated', {})).toBeNull();
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a payment method that is not in the list', { paymentMethod: 'CASH' }, /paymentMethod/],
    ['a currency that is not in the list', { currency: 'EUR' }, /currency/],
    ['a phone number that is none', { phoneNumber: '0821234567' }, /phoneNumber: .*E\.164/],
    ['a country that does not exist', { country: 'QQ' }, /country/],
    ['no name', { fullName: '' }, /fullName/],
    ['an amount of nothing', { amount: 0 }, /amount: must be above zero/],
    ['more decimals than the currency has', { amount: '1.234' }, /amount: .*ZAR has at most 2 decimals/],
    ['decimals of a currency without', { amount: '1.5', currency: 'XOF' }, /amount: .*XOF has no decimals/],
    ['a redirect that is no web address', { customerRedirectUrl: 'javascript:alert(1)' }, /customerRedirectUrl/],
  ])('refuses %s before anything is sent, and says which member', (_what, more, says) =>
    expectRefused(bench, CHECKOUT, more, says),
  );

  test('refuses nothing that is legal on the wire: countries in two or three letters, a national number there', () => {
    const accepted = (more: object) => bankCheckoutFlow.input.safeParse({ ...CHECKOUT.input('r-1'), ...more }).success;
    for (const country of ['ZA', 'ZAF', 'KE', undefined]) expect(accepted({ country })).toBe(true);
    expect(accepted({ country: 'ZAF', phoneNumber: '0821234567' })).toBe(true);
    expect(accepted({ country: 'GB', paymentMethod: 'CARD', phoneNumber: '+447700900123' })).toBe(true);
  });
});
