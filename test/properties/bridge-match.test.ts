import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { amountDiffers, knownFacts } from '../../workflows/bridge/transfer.js';
import { differences } from '../../workflows/engine/events.js';
import { readAmount } from '../../src/readers/amount.js';
import type { Facts } from '../../activities/types.js';

const AMOUNTS = ['settlementAmount', 'cryptoAmount', 'amountMsat'];

/** An amount as the reader gives it, and how it may be written with more zeros at its end. */
const amount = fc
  .tuple(fc.integer({ min: 0, max: 999_999_999 }), fc.stringMatching(/^\d{0,9}$/), fc.integer({ min: 0, max: 6 }))
  .map(([whole, decimals, zeros]) => {
    const written = decimals === '' ? String(whole) : `${whole}.${decimals}`;
    const zerosAfter = '0'.repeat(zeros);
    return {
      written: readAmount(written)!,
      longer: decimals !== '' ? written + zerosAfter : zeros > 0 ? `${written}.${zerosAfter}` : written,
    };
  });

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);

const inputs = fc
  .record({ amount, settlement: amount, crypto: amount, msat: amount, chain: word, token: word, hash: word })
  .map((made) => ({
    made,
    input: {
      amount: made.amount.written,
      source_currency: 'KES',
      chain: made.chain,
      token: made.token,
      crypto_payment: {
        crypto_amount: made.crypto.written,
        amount_msat: made.msat.written,
        payment_hash: made.hash,
      },
      settlement: { amount: made.settlement.written, currency: 'ZAR' },
    } as unknown as BridgeTransferInput,
  }));

const known = (input: BridgeTransferInput): Facts =>
  knownFacts(input, { serviceReference: 'service-1', paymentHash: null });

describe('an event, compared with what the flow knows', () => {
  it('does not differ if its amounts are the same in other spellings: they are read before', () => {
    fc.assert(
      fc.property(inputs, ({ made, input }) => {
        const said = {
          ...known(input),
          settlementAmount: readAmount(made.settlement.longer)!,
          cryptoAmount: readAmount(made.crypto.longer)!,
          amountMsat: readAmount(made.msat.longer)!,
        };
        expect(differences(known(input), said)).toEqual([]);
        expect(amountDiffers(input, { amount: readAmount(made.amount.longer)!, currency: 'KES' })).toBe(false);
        expect(amountDiffers(input, { amount: readAmount(made.settlement.longer)!, currency: 'ZAR' })).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('differs in each fact that was changed, and in no other', () => {
    const changes = fc.dictionary(
      fc.constantFrom('chain', 'token', 'serviceReference', 'paymentHash', 'settlementCurrency', ...AMOUNTS),
      fc.constant(true),
    );
    fc.assert(
      fc.property(inputs, changes, ({ input }, changed) => {
        const said = Object.fromEntries(
          Object.entries(known(input)).map(([name, ours]) => [name, name in changed ? other(name, ours) : ours]),
        );
        expect(differences(known(input), said).toSorted()).toEqual(Object.keys(changed).toSorted());
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not differ in what it does not say, nor in what we do not know', () => {
    fc.assert(
      fc.property(inputs, fc.dictionary(word, fc.string()), ({ input }, more) => {
        const strange = Object.fromEntries(Object.entries(more).filter(([name]) => !(name in known(input))));
        expect(differences(known(input), {})).toEqual([]);
        expect(differences(known(input), strange)).toEqual([]);
        expect(amountDiffers(input, { amount: '1' })).toBe(false);
        expect(amountDiffers(input, { currency: 'KES' })).toBe(false);
        expect(amountDiffers(input, { amount: '1', currency: 'XXX' })).toBe(false);
      }),
    );
  });

  it('differs by an amount that is no number, however it is written, and throws on no text at all', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('1e5', '-0', '+1', ' 1', '١', 'NaN', '0x10'));
    fc.assert(
      fc.property(inputs, texts, texts, ({ input }, first, second) => {
        const said = { settlementAmount: first, cryptoAmount: second, amountMsat: first, chain: second };
        expect(() => differences(known(input), said)).not.toThrow();
        expect(() => differences(said, said)).not.toThrow();
        expect(() => amountDiffers(input, { amount: first, currency: 'ZAR' })).not.toThrow();
        expect(() => amountDiffers(input, { amount: first, currency: second })).not.toThrow();
        if (readAmount(first) === undefined) expect(differences(known(input), said)).toContain('settlementAmount');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is compared with either side if both have its currency', () => {
    const input = {
      amount: '100',
      source_currency: 'KES',
      settlement: { amount: '98', currency: 'KES' },
    } as unknown as BridgeTransferInput;
    expect(['100', '98', '99'].map((amount) => amountDiffers(input, { amount, currency: 'KES' }))).toEqual([
      false,
      false,
      true,
    ]);
  });
});

/** Another value of the same kind: for amounts, the smallest step away from it. */
function other(name: string, ours: string): string {
  if (!AMOUNTS.includes(name)) return `${ours}x`;
  return ours.includes('.') ? `${ours}1` : `${ours}.1`;
}
