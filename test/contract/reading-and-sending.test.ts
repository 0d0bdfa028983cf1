import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { operations } from '../../src/contract/index.js';
import { defineOperation } from '../../src/contract/operation.js';
import { amount, numberAsText, record, text } from '../../src/contract/reading.js';
import { decimalNumber, moneyNumber, REFERENCE_PATTERN } from '../../src/contract/sending.js';
import { onTheWire } from '../../src/contract/wire.js';
import { parseAmount } from '../../src/money.js';

describe('a schema that the contract reads by', () => {
  it('gives amounts that our arithmetic always takes, or none', () => {
    const wire = fc.oneof(
      fc.double(),
      fc.integer(),
      fc.string(),
      fc.constantFrom('007.50', '-0', '-0.0', '1e5', 1e-7, 1e21, 5e-324),
    );
    fc.assert(
      fc.property(wire, (value) => {
        const read = amount().safeParse(value);
        if (read.success) expect(() => parseAmount(read.data)).not.toThrow();
      }),
      { numRuns: 5_000 },
    );
    expect([0.65, '0.65', '007.50', '-0', 1e-7].map((value) => amount().parse(value))).toEqual([
      '0.65',
      '0.65',
      '7.5',
      '0',
      '0.0000001',
    ]);
  });

  it('shows an amount as the number that came, down to 1e-18, and as text if no number has its digits', () => {
    const schema = record({ cost: amount(), code: numberAsText() }, []);
    const shown = (said: unknown) => onTheWire(schema, schema.parse(said));
    fc.assert(
      fc.property(fc.nat(999_999_999), fc.integer({ min: 0, max: 18 }), (digits, decimals) => {
        const cost = Number(`${digits}e-${decimals}`);
        expect([shown({ cost }), shown({ cost: `0${digits}.0e-${decimals}` })]).toEqual([{ cost }, { cost }]);
      }),
    );
    const long = { cost: '0.1234567890123456789', code: '007' };
    expect(shown(long)).toEqual(long);
    expect(shown({ cost: 1e21, code: 7 })).toEqual({ cost: 1e21, code: 7 });
  });

  it('keeps unknown members, and reads a cosmetic one that cannot be read as absent', () => {
    const schema = record({ id: text(), cost: amount() }, ['id']);
    expect(schema.parse({ id: 7, cost: 'free', more: [1] })).toEqual({ id: '7', cost: undefined, more: [1] });
    expect(schema.parse({ id: 'x', cost: null })).toEqual({ id: 'x', cost: null });
    expect(schema.safeParse({ cost: 1 }).success).toBe(false);
  });

  it('needs one leg of an on-chain deposit', () => {
    const { data } = operations.getOnChainDeposit;
    expect(data.safeParse({}).success).toBe(false);
    expect(data.safeParse({ onchain: { status: 'PENDING' }, mobile_money: 'soon' }).success).toBe(true);
  });
});

describe('a schema that the contract sends by', () => {
  it('takes no number that would be read as another amount', () => {
    for (const bad of [NaN, Infinity, -1, 2 ** 53 + 1, 0.1 + 0.2, 1e21, 1.234567890123456e-7]) {
      expect([bad, decimalNumber().safeParse(bad).success]).toEqual([bad, false]);
    }
    expect(decimalNumber().safeParse(0).success).toBe(true);
    expect(moneyNumber().safeParse(0).success).toBe(false);
    for (const tiny of [1e-7, 5e-7, 1e-18, 1.23456789012345e-7])
      expect(moneyNumber().safeParse(tiny).success).toBe(true);
    expect(moneyNumber().safeParse(0.00000123).success).toBe(true);
    expect(moneyNumber().safeParse(123_456_789_012.345).success).toBe(true);
  });

  it('takes a bank code as number or text, a country by its name or code, any network, and a reference or none for a checkout', () => {
    const bank = { accountNumber: '1' };
    const invoice = { currency: 'KES', amount: 1, referenceId: 'r', bank };
    for (const bankCode of ['0250', 'ABSA', 123456]) {
      expect(operations.createInvoice.body.safeParse({ ...invoice, bank: { ...bank, bankCode } }).success).toBe(true);
    }
    // The interface says a string: it names a country, or has a code.
    for (const country of ['Kenya', 'KEN', 'KE']) {
      expect(operations.createInvoice.body.safeParse({ ...invoice, bank: { ...bank, country } }).success).toBe(true);
    }
    const checkout = { fullName: 'n', phoneNumber: '1', paymentMethod: 'CARD', currency: 'KES', amount: 1 };
    expect(operations.createBankCheckout.body.safeParse(checkout).success).toBe(true);
    expect(operations.createBankCheckout.body.safeParse({ ...checkout, paymentMethod: 'CASH' }).success).toBe(false);
    const payment = {
      amount: 1,
      currency: 'KES',
      referenceId: 'r',
      mobileMoney: { phoneNumber: '1', providerNetwork: 'TIGO' },
    };
    expect(operations.payInvoice.body.safeParse(payment).success).toBe(true);
  });

  it('takes card deposits in ZAR alone', () => {
    const card = { number: '4', expiryMonth: '1', expiryYear: '2', cvv: '3' };
    const request = { fullName: 'n', phoneNumber: '1', currency: 'ZAR', amount: 1, card };
    expect(operations.createCardDeposit.body.safeParse(request).success).toBe(true);
    expect(operations.createCardDeposit.body.safeParse({ ...request, currency: 'KES' }).success).toBe(false);
  });

  it('knows a reference by its grammar', () => {
    for (const good of ['a', '7', 'A.b_c:d-e', 'x'.repeat(128)]) expect(REFERENCE_PATTERN.test(good)).toBe(true);
    for (const bad of ['', '.a', 'a..b', '-a', 'a/b', 'a%2e', 'a b', 'a\n', 'é', 'x'.repeat(129)]) {
      expect([bad, REFERENCE_PATTERN.test(bad)]).toEqual([bad, false]);
    }
  });
});

describe('an operation of the contract', () => {
  it('cannot be defined with a path that disagrees with its parameter, or money without a reference', () => {
    const { getOfframp, createOfframp } = operations;
    expect(() => defineOperation({ ...getOfframp, param: 'other' })).toThrow(TypeError);
    const { reference: _reference, ...withoutReference } = createOfframp;
    expect(() => defineOperation(withoutReference)).toThrow(TypeError);
  });
});
