import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readAddress, readHash } from '../../src/readers/hash.js';
import { bolt11 } from '../flows/bolt11.js';

const blank = fc.constantFrom('', ' ', '\n', '\t');
const hex = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength, maxLength });

describe('readHash', () => {
  it('reads hexadecimal digits in any case, with 0x or without, with blanks in and around, as one text', () => {
    const spelling = fc.tuple(fc.constantFrom('', '0x', '0X'), blank, blank, fc.nat(64), fc.boolean());
    fc.assert(
      fc.property(hex(64, 64), spelling, (digits, [prefix, before, after, at, isUpper]) => {
        const cased = isUpper ? digits.toUpperCase() : digits;
        expect(readHash(`${before}${prefix}${cased.slice(0, at)} ${cased.slice(at)}${after}`)).toBe(digits);
      }),
    );
  });

  it('distinguishes two hashes that differ in a digit', () => {
    fc.assert(
      fc.property(hex(64, 64), hex(64, 64), (one, other) => {
        expect(readHash(`0x${one.toUpperCase()}`) === readHash(other)).toBe(one === other);
      }),
    );
  });

  it.each([
    // A signature of Solana in base58: its case counts.
    ['5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'],
    ['hash-of-the-payment'],
    ['deadBEEF'],
  ])('keeps %s, in which the case may count', (text) => {
    expect(readHash(` ${text}\n`)).toBe(text);
  });

  it.each(['', '  ', 'a:b', '00:01:02', 'über', 'a/b', 'x'.repeat(201), 7, null, undefined, {}, []])(
    'cannot read %p',
    (value) => {
      expect(readHash(value)).toBeUndefined();
    },
  );
});

/** The examples of EIP-55 and of BIP 173, BIP 350. */
const EIP_55 = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];
const BECH32 = [
  'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
  'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  'BC1SW50QGDZ25J',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
];
const CASE_COUNTS = [
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
  'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
  '0.0.123456',
];

describe('readAddress', () => {
  it.each([...EIP_55, ...BECH32])(
    'reads %s in capitals, small letters and mixed ones as one, as far as its form allows',
    (address) => {
      const [bare] = [address.replace(/^0x/, '')];
      const read = readAddress(address);
      expect(read).toBe(address.toLowerCase());
      const upper = bare === address ? address.toUpperCase() : `0X${bare.toUpperCase()}`;
      for (const spelled of [address.toLowerCase(), upper, ` ${address}\n`]) expect(readAddress(spelled)).toBe(read);
    },
  );

  it('reads a Lightning invoice, which is longer than any other address, in any case and with `lightning:` as one', () => {
    const invoice = bolt11({ amountMsat: 2_100_000 });
    expect(invoice.length).toBeGreaterThan(200);
    for (const spelled of [
      invoice,
      invoice.toUpperCase(),
      `lightning:${invoice}`,
      ` LIGHTNING:${invoice.toUpperCase()}`,
    ]) {
      expect(readAddress(spelled)).toBe(invoice);
    }
    expect(readAddress(`${invoice}${'q'.repeat(5_000)}`)).toBeUndefined();
  });

  it.each(CASE_COUNTS)('keeps the case of %s', (address) => {
    expect(readAddress(` ${address}`)).toBe(address);
    expect(readAddress(address)).not.toBe(
      readAddress(address.toLowerCase() === address ? `${address}0` : address.toLowerCase()),
    );
  });

  it('takes an address with 39 digits, which the documents of the service show', () => {
    expect(readAddress('0xABCDEF01234567890123456789012345678901')).toBe('0xabcdef01234567890123456789012345678901');
  });

  it.each(['', ' ', 'x'.repeat(201), 7, null, undefined, {}])('cannot read %p', (value) => {
    expect(readAddress(value)).toBeUndefined();
  });

  it('reads no long text', () => {
    for (const piece of ['0', ' ', 'a1', '0x']) {
      expect([readHash(piece.repeat(1_000_000)), readAddress(piece.repeat(1_000_000))]).toEqual([undefined, undefined]);
    }
  });
});
