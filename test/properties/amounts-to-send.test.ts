import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { checkRequest } from '../../src/service-client/index.js';
import { prepare } from '../../src/service-client/prepare.js';
import { BRIDGE_TOKENS, FIAT_CURRENCIES, TOKENS } from '../../src/contract/vocabulary.js';
import { BankWithdrawalInput } from '../../src/flows/bank-withdrawal.js';
import { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { CryptoSendInput, cryptoSendFlow } from '../../src/flows/crypto-send.js';
import { OfframpInput } from '../../src/flows/offramp.js';
import { decimalsOf, parseAmount } from '../../src/money.js';

const transfer = (members: Record<string, unknown>) =>
  BridgeTransferInput.safeParse({
    customer_key: 'c',
    provider_reference_id: 'r1',
    amount: '1000',
    source_currency: 'KES',
    wallet_id: 'w',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1' },
    settlement: { amount: '100', currency: 'ZAR', recipient: {} },
    ...members,
  });
const send = (token: string, cryptoAmount: unknown) =>
  CryptoSendInput.safeParse({ receiverAddress: '0x1', chain: 'CELO', token, cryptoAmount, referenceId: 'r1' });
/** The members that are refused. */
const wrong = (parsed: { error?: { issues: readonly { path: readonly PropertyKey[] }[] } }) =>
  (parsed.error?.issues ?? []).map(({ path }) => path.join('.'));

describe('an amount at the input of a flow', () => {
  it.each([
    ['BTC', '0.0000005', '0.0000005'],
    ['BTC', 5e-7, '0.0000005'],
    ['CUSD', '0.000000000000000001', '0.000000000000000001'],
    ['CUSD', 7.123_456_789_012_34, '7.12345678901234'],
    ['SAT', '999999999999999', '999999999999999'],
    ['CUSD', ' +007.50e1 ', '75'],
  ])('of %s is taken as %s where a JSON number carries it', (token, written, plain) => {
    expect(send(token, written).data?.cryptoAmount).toBe(plain);
  });

  it.each<[string, unknown, string]>([
    ['CUSD', '7.123456789012345678', 'has more than 15 significant digits'],
    ['CUSD', 7.123456789012345, 'has more than 15 significant digits'],
    ['CUSD', '123456789012345678901234567890', 'has more than 15 significant digits'],
    ['CUSD', '0.0000000000000000001', 'has more than 18 decimals'],
    ['BTC', '0.000000005', 'An amount in BTC has at most 8 decimals.'],
    ['SAT', '0.5', 'An amount in SAT has no decimals.'],
    ['USDC', '0.0000005', 'An amount in USDC has at most 6 decimals.'],
    ['CUSD', '1,000', 'must be a decimal number such as'],
    ['CUSD', '-1', 'must be above zero'],
    ['CUSD', 0, 'must be above zero'],
  ])('of %s is refused as %s: it %s', (token, written) => {
    expect(wrong(send(token, written))).toEqual(['cryptoAmount']);
  });

  it('has the decimals of its currency in every kind', () => {
    const withdrawal = { bankDetails: { accountNumber: '1', bankCode: '2' }, referenceId: 'r1' };
    expect(wrong(BankWithdrawalInput.safeParse({ ...withdrawal, currency: 'ZAR', amount: '0.001' }))).toContain(
      'amount',
    );
    const offramp = { currency: 'KES', chain: 'CELO', token: 'MSAT', referenceId: 'r1', cryptoAmount: '1.5' };
    expect(wrong(OfframpInput.safeParse(offramp))).toEqual(['cryptoAmount']);
    expect(transfer({}).success).toBe(true);
    expect(wrong(transfer({ amount: '10.005' }))).toEqual(['amount']);
    const settlement = { amount: '1.5', currency: 'UGX', recipient: {} };
    expect(wrong(transfer({ settlement }))).toEqual(['settlement.amount']);
    for (const [member, amount] of [
      ['amount_msat', '1.5'],
      ['crypto_amount', '7.1234567'],
    ] as const)
      expect(wrong(transfer({ crypto_payment: { [member]: amount } }))).toEqual([`crypto_payment.${member}`]);
    expect(transfer({ token: 'MSAT', crypto_payment: { crypto_amount: '0.00021' } }).success).toBe(true);
  });

  it('is what leaves for the service, to the last digit, or is refused', () => {
    const amounts = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }))
      .map(([digits, decimals]) => {
        const padded = digits.toString().padStart(decimals + 1, '0');
        return decimals === 0 ? padded : `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
      });
    const counts = { sent: 0, refused: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...TOKENS), amounts, (token, written) => {
        const parsed = send(token, written);
        counts[parsed.success ? 'sent' : 'refused'] += 1;
        if (!parsed.success) return;
        const request = cryptoSendFlow.submissions?.['send']?.request(parsed.data, { callbackUrl: '' });
        expect(() => checkRequest('sendCrypto', request)).not.toThrow();
        const [, onTheWire] = /"cryptoAmount":([\d.]+),/.exec(prepare('sendCrypto', request).body ?? '') ?? [];
        expect(onTheWire).toBe(parseAmount(written));
        const decimals = (parseAmount(written).split('.')[1] ?? '').length;
        expect(decimals).toBeLessThanOrEqual(decimalsOf(token) ?? 18);
      }),
      { numRuns: 3_000 },
    );
    expect(counts.sent).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(100);
  });

  it('has a number of decimals for every currency of the interface', () => {
    expect(FIAT_CURRENCIES.filter((currency) => decimalsOf(currency) === undefined)).toEqual([]);
    expect([...TOKENS, ...BRIDGE_TOKENS].filter((token) => decimalsOf(token) === undefined)).toEqual([]);
  });
});
