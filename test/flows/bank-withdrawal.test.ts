import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bankWithdrawalFlow } from '../../src/flows/bank-withdrawal.js';
import { untilFlow } from '../harness/reports.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { type Stack, openStack } from '../harness/stack.js';
import { expectRefused, startAs } from './by-events-setup.js';

const BANK = { name: 'Canary Receiver', bankCode: '0250', accountNumber: '62000000001', country: 'ZA' };

const [WITHDRAWAL] = KINDS.filter(({ kind }) => kind === 'bank-withdrawal') as [NamedKind];

/** The rest is in by-events.test.ts. */
describe('a bank withdrawal', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  test('shows the id that the service gave it', async () => {
    const { handle } = await startAs(bench, WITHDRAWAL, 'id');
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
    expect(view.serviceReference).toMatch(/^WDR-/);
    await handle.terminate();
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a bank of another country', { bankDetails: { ...BANK, country: 'KE' } }, 'bankDetails.country'],
    ['an account that is missing', { bankDetails: { bankCode: '0250' } }, 'bankDetails.accountNumber'],
    ['a phone number that is none', { bankDetails: { ...BANK, phoneNumber: '12' } }, 'bankDetails.phoneNumber'],
    ['a currency that is not in the list', { currency: 'EUR' }, 'currency'],
    ['an amount of nothing', { amount: '0' }, 'amount'],
    ['an amount below zero', { amount: '-1' }, 'amount'],
    ['more decimals than the currency has', { amount: '1.234' }, 'amount'],
    ['decimals of a currency without', { amount: '1.5', currency: 'UGX' }, 'amount'],
    ['a member that the operation does not have', { walletId: 'w' }, 'walletId'],
  ])('refuses %s before anything is sent, and names the member', (_what, more, member) =>
    expectRefused(bench, WITHDRAWAL, more, member),
  );

  test('refuses nothing that is legal on the wire: bank codes, spellings of the country, phones, currencies', () => {
    const accepted = (bankDetails: object, more: object = {}) =>
      bankWithdrawalFlow.input.safeParse({
        ...WITHDRAWAL.input('r-1'),
        bankDetails: { ...BANK, ...bankDetails },
        ...more,
      });
    for (const bankCode of ['0250', 123_456, 'ABSA'])
      expect(accepted({ bankCode }).data?.bankDetails.bankCode).toBe(bankCode);
    for (const country of ['ZA', 'za', 'ZAF', 'South Africa', undefined])
      expect(accepted({ country }).success).toBe(true);
    for (const phoneNumber of ['+27821234567', '0821234567', undefined])
      expect(accepted({ phoneNumber }).success).toBe(true);
    expect(accepted({}, { currency: 'USD', amount: 12.5 }).data?.amount).toBe('12.5');
  });

  test('keeps persons and accounts out of its summary and its facts', () => {
    const input = bankWithdrawalFlow.input.parse(WITHDRAWAL.input('r-2'));
    const facts = bankWithdrawalFlow.submissions?.['withdraw']?.factsOf(input);
    expect(facts).toEqual({ amount: '250.5', currency: 'ZAR', ourReference: 'r-2', bankCode: '250' });
    expect(bankWithdrawalFlow.summaryOf(input)).toBe('Bank withdrawal: 250.5 ZAR');
  });
});
