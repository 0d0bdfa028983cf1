import { describe, expect, it } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { otherCameIn, refundTerms, sentFacts } from '../../workflows/bridge/refund-terms.js';
import { trusted } from '../harness/inputs.js';
import { flowOfTransfer, knownTransfer, REFUND } from './known-transfer.js';

const { flow } = flowOfTransfer();

/** The terms, or why there are none, if the deposit's answer names these in place of the usual ones. */
const terms = (refund: object | null = {}, more: Parameters<typeof knownTransfer>[0] = {}) => {
  const { deposit } = knownTransfer();
  return refundTerms(
    flow,
    knownTransfer({ deposit: { ...deposit, refund: refund && { ...REFUND, ...refund } } as never, ...more }),
  );
};

describe('the terms of a refund by us', () => {
  it('name everything that the send needs, under a reference of its own', () => {
    expect(terms()).toEqual({
      flowId: 'bridge-transfer/r-1',
      pin: 'pin-1',
      reference: 'r-1.refund',
      receiverAddress: REFUND.fallbackAddress,
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '7.5',
    });
  });

  it('are read whatever spaces and letters the answer writes them with', () => {
    const written = { chain: ' celo', token: 'Usdc ', fallbackAddress: ` ${REFUND.fallbackAddress}\n` };
    expect(terms({ ...written, method: ' Crypto_Address' })).toEqual(terms());
    expect(terms({}, { input: { token: 'usdc', chain: 'celo' } })).toEqual(terms());
  });

  it.each([
    ['without a deposit answer', null],
    ['without an address', { fallbackAddress: null }],
    ['without an amount', { cryptoAmount: null }],
  ])('are not known %s', (_, refund) => {
    expect(terms(refund)).toMatch(/^the refund terms are not known/);
  });

  it.each([{ chain: null }, { token: null }])('cannot be read with %j', (refund) => {
    expect(terms(refund)).toBe('the refund terms name no chain or token that can be read');
  });

  it.each<[object, string]>([
    [{ chain: 'MOON' }, 'crypto cannot be sent on MOON'],
    [{ chain: ' ' }, 'crypto cannot be sent on a chain without a name'],
    [{ token: 'MOON' }, 'MOON cannot be sent'],
    [{ token: '' }, 'a token without a name cannot be sent'],
    [{ fallbackAddress: ' ' }, 'its address is empty'],
    [{ token: 'USDT' }, 'USDC was paid in, and the refund is in USDT'],
    [{ chain: 'ETHEREUM' }, 'it was paid in on CELO, and the refund is on ETHEREUM'],
    [{ cryptoAmount: '7.500001' }, '7.5 USDC was paid in, and the refund is 7.500001'],
  ])('do not stand with %j', (refund, why) => {
    expect(terms(refund)).toBe(`the refund cannot be sent by us: ${why}`);
  });

  it('do not stand if the amount is nothing or no number, nor if nothing says how much was paid in', () => {
    for (const cryptoAmount of ['0', 'much'])
      expect(terms({ cryptoAmount })).toContain(`the refund cannot be sent by us: its amount is ${cryptoAmount}. `);
    expect(terms({}, { input: { crypto_payment: { address: '0x1' } } })).toBe(
      'the refund cannot be sent by us: how much was paid in is not known',
    );
  });

  it.each([
    ['crypto_address', 'crypto_address', true],
    ['lightning', ' LIGHTNING ', true],
    ['crypto_address', null, true],
    ['Wallet', '', true],
    ['lightning', null, false],
    ['lightning', 'crypto_address', false],
    ['crypto_address', 'lightning', false],
    [null, 'lightning', false],
    [null, null, false],
  ])('belong together if the amount is for "%s" and the address for "%s": %s', (method, fallbackMethod, isFit) => {
    const named = (text: string | null) => text?.trim().toLowerCase() || 'no method';
    const why = `the amount is for "${named(method)}", and the address for "${named(fallbackMethod)}"`;
    expect(terms({ method, fallbackMethod })).toEqual(isFit ? terms() : `the refund cannot be sent by us: ${why}`);
  });

  it('send back no more than what an event says came in, and all that was agreed if more came in', () => {
    const amountOf = (cameIn: Record<string, string>, refund = {}) => terms(refund, { cameIn });
    expect(amountOf({ cryptoAmount: '5' })).toMatchObject({ cryptoAmount: '5' });
    expect(amountOf({ cryptoAmount: '9' })).toMatchObject({ cryptoAmount: '7.5' });
    expect(amountOf({ cryptoAmount: '7.50' }, { cryptoAmount: '7.500' })).toMatchObject({ cryptoAmount: '7.500' });
    expect(amountOf({ cryptoAmount: '6' }, { cryptoAmount: '5' })).toMatchObject({ cryptoAmount: '5' });
    expect(amountOf({ cryptoAmount: UNREADABLE })).toMatch(/^the refund cannot be sent by us: an event says/);
    expect(amountOf({ cryptoAmount: '0' })).toMatch(/^the refund cannot be sent by us: its amount is 0\./);
  });

  it('are what the record of the send must match: an address on a chain in any letters', () => {
    const order = { ...REFUND, receiverAddress: '0xAB22222222222222222222222222222222222222', cryptoAmount: '5' };
    const { receiverAddress, ...rest } = sentFacts(order as never);
    expect(rest).toEqual({ cryptoAmount: '5', chain: 'CELO', token: 'USDC' });
    expect(receiverAddress).toBe(
      sentFacts({ ...order, receiverAddress: order.receiverAddress.toLowerCase() } as never)['receiverAddress'],
    );
    expect(receiverAddress).toContain('22222222');
  });
});

describe('whether a person has to decide how much goes back', () => {
  const claim = (facts: Record<string, string>) => trusted('SETTLING', { trusted: false, proof: null, facts });
  const why = (more: Parameters<typeof knownTransfer>[0]) => otherCameIn(knownTransfer(more));
  const other = claim({ cryptoAmount: '7.5', chain: 'CELO', token: 'USDC' });

  it('is no question if every event says what was asked for, or says nothing about it', () => {
    expect(why({})).toBeNull();
    expect(why({ cameIn: { cryptoAmount: '7.50' }, unverified: [other, claim({})] })).toBeNull();
    expect(why({ unverified: [claim({ chain: ' celo', token: 'usdc' }), claim({ cryptoAmount: '9' })] })).toBeNull();
  });

  it('is one after an event that was accepted and cannot be read, or says less', () => {
    expect(why({ cameIn: { body: UNREADABLE } })).toBe('an accepted event cannot be read in full');
    expect(why({ cameIn: { cryptoAmount: '5' } })).toBe(
      'an event says 5 USDC, and 7.5 was to come in: no more than that is sent back',
    );
  });

  it.each(['body', 'chain', 'token'])('is one beside an unverified event whose %s cannot be read', (name) => {
    expect(why({ unverified: [other, claim({ [name]: UNREADABLE })] })).toBe(
      'an unverified event cannot be read in full',
    );
  });

  it.each([
    [{ token: 'usdt' }, 'USDT'],
    [{ chain: 'ethereum' }, 'something on ETHEREUM'],
    [{ token: 'USDT', chain: 'ETHEREUM' }, 'USDT'],
    [{ token: 'USDC', chain: 'ETHEREUM' }, 'something on ETHEREUM'],
  ])('is one beside an unverified event with %j', (facts, what) => {
    expect(why({ unverified: [other, claim(facts)] })).toBe(`an unverified event says that ${what} came in`);
  });

  it('is one beside an unverified event of less, or of an amount that cannot be read or compared', () => {
    const less = 'an unverified event says that 5 USDC came in, and 7.5 was to come in';
    expect(why({ unverified: [claim({ cryptoAmount: '5' }), other] })).toBe(less);
    expect(why({ unverified: [other, claim({ refundCryptoAmount: '5' })] })).toBe(less);
    expect(why({ unverified: [claim({ cryptoAmount: UNREADABLE }), other] })).toBe(
      'an unverified event says how much came in, and that cannot be read or compared',
    );
  });

  it('is none by an amount that cannot be read: such terms are refused by another rule', () => {
    expect(why({ cameIn: { cryptoAmount: UNREADABLE } })).toBeNull();
  });

  it('is none by an unverified event of less if nothing says how much was asked for: nothing can be sent anyway', () => {
    const input = { crypto_payment: { address: '0x1' } };
    expect(why({ input, unverified: [claim({ cryptoAmount: '5' })] })).toBeNull();
  });
});
