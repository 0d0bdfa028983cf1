import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bankCheckoutFlow } from '../../src/flows/bank-checkout.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { type Stack, openStack } from '../harness/stack.js';
import { expectRefused, startAs } from './by-events-setup.js';

const [CHECKOUT] = KINDS.filter(({ kind }) => kind === 'bank-checkout') as [NamedKind];

/** The rest is in by-events.test.ts. */
describe('a bank checkout', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  test('hands out what the service answered, for the customer to be sent on', async () => {
    const { reference, handle } = await startAs(bench, CHECKOUT, 'answer', {
      more: { customerRedirectUrl: 'https://shop.example/paid' },
    });
    expect(await handle.executeUpdate('answer')).toMatchObject({
      kind: 'accepted',
      answer: { referenceId: reference, paymentMethod: 'PAYBYBANK', customerRedirectUrl: 'https://shop.example/paid' },
    });
    await handle.terminate();
  });

  test('reads payment.confirmed by its name, with a status and without', () => {
    const read = (event: string, data: object) =>
      bankCheckoutFlow.readEvent({ event, data: { reference_id: 'r', ...data } })?.status;
    expect(read('payment.confirmed', {})).toBe('CONFIRMED');
    expect(read('payment.confirmed', { status: 'SUCCESSFUL' })).toBe('SUCCESSFUL');
    expect(read('transaction.deposit.status.updated', {})).toBeNull();
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a payment method that is not in the list', { paymentMethod: 'CASH' }, 'paymentMethod'],
    ['a currency that is not in the list', { currency: 'EUR' }, 'currency'],
    ['a phone number that is none', { phoneNumber: '0821234567' }, 'phoneNumber'],
    ['a country that does not exist', { country: 'QQ' }, 'country'],
    ['no name', { fullName: '' }, 'fullName'],
    ['an amount of nothing', { amount: 0 }, 'amount'],
    ['more decimals than the currency has', { amount: '1.234' }, 'amount'],
    ['decimals of a currency without', { amount: '1.5', currency: 'XOF' }, 'amount'],
    ['a redirect that is no web address', { customerRedirectUrl: 'javascript:alert(1)' }, 'customerRedirectUrl'],
  ])('refuses %s before anything is sent, and names the member', (_what, more, member) =>
    expectRefused(bench, CHECKOUT, more, member),
  );

  test('refuses nothing that is legal on the wire: countries in two or three letters, a national number there', () => {
    const accepted = (more: object) => bankCheckoutFlow.input.safeParse({ ...CHECKOUT.input('r-1'), ...more }).success;
    for (const country of ['ZA', 'ZAF', 'KE', 'Kenya', 'south africa', undefined])
      expect(accepted({ country })).toBe(true);
    for (const country of ['XX', '710', 'Atlantis']) expect(accepted({ country })).toBe(false);
    expect(accepted({ country: 'ZAF', phoneNumber: '0821234567' })).toBe(true);
    expect(accepted({ country: 'South Africa', phoneNumber: '0821234567' })).toBe(true);
    expect(accepted({ country: 'GB', paymentMethod: 'CARD', phoneNumber: '+447700900123' })).toBe(true);
  });
});
