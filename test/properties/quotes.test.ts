import { describe, expect, it } from '@jest/globals';
import { quoteUnit } from '../../src/flows/bridge-transfer.js';
import { whyWorse } from '../../workflows/bridge/quotes.js';

const quote = (cryptoAmount: string, cryptoUnit: string | null) => ({
  rateId: 'r',
  lifeMs: 60_000,
  cryptoAmount,
  cryptoUnit,
});

describe('a new quote', () => {
  it('is compared with the agreed one in one unit, within the limit', () => {
    expect(whyWorse(quote('1000', 'MSAT'), quote('990', 'MSAT'), 100)).toBeNull();
    expect(whyWorse(quote('1000', 'MSAT'), quote('989', 'MSAT'), 100)).not.toBeNull();
    expect(whyWorse(quote('1000', 'SAT'), quote('1000000', 'MSAT'), 0)).toBeNull();
    expect(whyWorse(quote('0.5', 'BTC'), quote('49000000', 'SAT'), 100)).not.toBeNull();
  });

  it('that names no amount is no better quote', () => {
    const nothing = { ...quote('', 'MSAT'), cryptoAmount: null };
    expect(whyWorse(quote('1000', 'MSAT'), nothing, 100)).not.toBeNull();
    expect(whyWorse(nothing, quote('1000', 'MSAT'), 100)).not.toBeNull();
  });

  it('whose unit flips is no better quote', () => {
    expect(whyWorse(quote('1000', 'SAT'), quote('1001', 'MSAT'), 100)).not.toBeNull();
    expect(whyWorse(quote('7.5', 'USDC'), quote('7500000', 'MSAT'), 100)).not.toBeNull();
    expect(whyWorse(quote('7.5', 'USDC'), quote('7.6', null), 100)).not.toBeNull();
  });

  it('in a unit that cannot be converted is compared if it is the same unit, or if neither names one', () => {
    for (const unit of ['USDC', null]) {
      expect(whyWorse(quote('7.5', unit), quote('7.5', unit), 0)).toBeNull();
      expect(whyWorse(quote('7.5', unit), quote('7.49', unit), 10)).not.toBeNull();
    }
  });

  it('has its unit in the spelling of the interface; a unit that is no code is equal to itself alone', () => {
    const unitOf = (crypto_unit?: string | null) => quoteUnit({ crypto_unit });
    expect([' usdc', 'USDC ', 'Usdc'].map(unitOf)).toEqual(['USDC', 'USDC', 'USDC']);
    expect([undefined, null, 'US$', 'US€'].map(unitOf)).toEqual([null, null, 'US$', 'US€']);
  });
});
