import { describe, expect, it } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { otherCameIn, refundTerms, sentFacts } from '../../workflows/bridge/refund-terms.js';
import { depositAnswerOf } from '../../workflows/bridge/transfer.js';
import { trusted } from '../harness/inputs.js';
import { knownTransfer, REFUND } from './known-transfer.js';

/** The terms, or why there are none, if the deposit's answer names these in place of the usual ones. */
const terms = (refund: object | null = {}, more: Parameters<typeof knownTransfer>[0] = {}) => {
  const { deposit } = knownTransfer();
  return refundTerms(
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

  const answer = (refund: object) =>
    depositAnswerOf({ kotani_reference_id: 'k-1', status: 'X', refund_config: refund } as never).refund;

  it('are read from the answer whatever blanks and letters it writes them with', () => {
    const written = { chain: ' celo', token: 'Usdc ', fallback_address: ` ${REFUND.fallbackAddress}\n` };
    const methods = { primary_method: ' Crypto_Address', fallback_method: 'crypto address' };
    const read = answer({ ...written, ...methods, refund_crypto_amount: '7.5' })!;
    expect(read).toEqual(REFUND);
    expect(terms(read)).toEqual(terms());
  });

  it('are none where the answer has none, and are not ours where it cannot be read', () => {
    const nothing = { chain: null, token: ' ', primary_method: '', fallback_method: undefined };
    expect(answer(nothing)).toMatchObject({ chain: null, token: null, method: null, fallbackMethod: null });
    const unread = { chain: 'CELO, or another', token: 'US$', primary_method: 'a/b', fallback_method: 'a/b' };
    expect(answer(unread)).toMatchObject({ chain: UNREADABLE, token: UNREADABLE });
    const { method, fallbackMethod } = answer(unread)!;
    expect(terms({ method, fallbackMethod })).toMatchObject({ code: 'refund_not_sendable' });
  });

  it.each([
    ['without a deposit answer', null],
    ['without an address', { fallbackAddress: null }],
    ['without an amount', { cryptoAmount: null }],
  ])('are not known %s', (_, refund) => {
    expect(terms(refund)).toMatchObject({ code: 'refund_terms_unknown' });
  });

  it.each([{ chain: null }, { token: null }])('cannot be read with %j', (refund) => {
    expect(terms(refund)).toMatchObject({ code: 'refund_terms_unreadable' });
  });

  it.each<[object]>([
    [{ chain: 'MOON' }],
    [{ chain: UNREADABLE }],
    [{ token: 'MOON' }],
    [{ token: UNREADABLE }],
    [{ fallbackAddress: '' }],
    [{ token: 'USDT' }],
    [{ chain: 'ETHEREUM' }],
    [{ cryptoAmount: '7.500001' }],
  ])('do not stand with %j', (refund) => {
    expect(terms(refund)).toMatchObject({ code: 'refund_not_sendable' });
  });

  it('do not stand if the amount is nothing or no number, nor when nothing proves how much was paid in', () => {
    for (const cryptoAmount of ['0', 'much'])
      expect(terms({ cryptoAmount })).toMatchObject({ code: 'refund_not_sendable' });
    expect(terms({}, { input: { crypto_payment: { address: '0x1' } } })).toMatchObject({
      code: 'refund_not_sendable',
    });
  });

  it.each([
    ['CRYPTO_ADDRESS', 'CRYPTO_ADDRESS', true],
    ['LIGHTNING', 'LIGHTNING', true],
    ['CRYPTO_ADDRESS', null, true],
    ['WALLET', null, true],
    ['LIGHTNING', null, false],
    ['LIGHTNING', 'CRYPTO_ADDRESS', false],
    ['CRYPTO_ADDRESS', 'LIGHTNING', false],
    [UNREADABLE, UNREADABLE, false],
    ['CRYPTO_ADDRESS', UNREADABLE, false],
    [null, 'LIGHTNING', false],
    [null, null, false],
  ])('belong together if the amount is for "%s" and the address for "%s": %s', (method, fallbackMethod, isFit) => {
    const expected = isFit ? terms() : { code: 'refund_not_sendable' };
    expect(terms({ method, fallbackMethod })).toMatchObject(expected);
  });

  it('send back no more than an event reports as come in, and all that was agreed if more came in', () => {
    const amountOf = (cameIn: Record<string, string>, refund = {}) => terms(refund, { cameIn });
    expect(amountOf({ cryptoAmount: '5' })).toMatchObject({ cryptoAmount: '5' });
    expect(amountOf({ cryptoAmount: '9' })).toMatchObject({ cryptoAmount: '7.5' });
    expect(amountOf({ cryptoAmount: '6' }, { cryptoAmount: '5' })).toMatchObject({ cryptoAmount: '5' });
    expect(amountOf({ cryptoAmount: UNREADABLE })).toMatchObject({ code: 'amount_unreadable' });
    expect(amountOf({ cryptoAmount: '0' })).toMatchObject({ code: 'refund_not_sendable' });
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
  const causeOf = (more: Parameters<typeof knownTransfer>[0]) => otherCameIn(knownTransfer(more))?.code;
  const other = claim({ cryptoAmount: '7.5', chain: 'CELO', token: 'USDC' });

  it('is no question when every event has the amount that was asked for, or none', () => {
    expect(causeOf({})).toBeUndefined();
    expect(causeOf({ cameIn: { cryptoAmount: '7.5' }, unverified: [other, claim({})] })).toBeUndefined();
    expect(causeOf({ unverified: [other, claim({ cryptoAmount: '9' })] })).toBeUndefined();
  });

  it('is one after an event that was accepted and cannot be read, or has less', () => {
    expect(causeOf({ cameIn: { body: UNREADABLE } })).toBe('accepted_event_unread');
    expect(causeOf({ cameIn: { cryptoAmount: '5' } })).toBe('less_came_in');
  });

  it.each(['body', 'chain', 'token'])('is one beside an unverified event whose %s cannot be read', (name) => {
    expect(causeOf({ unverified: [other, claim({ [name]: UNREADABLE })] })).toBe('unverified_event_unread');
  });

  it.each([
    [{ token: 'USDT' }],
    [{ chain: 'ETHEREUM' }],
    [{ token: 'USDT', chain: 'ETHEREUM' }],
    [{ token: 'USDC', chain: 'ETHEREUM' }],
  ])('is one beside an unverified event with %j', (facts) => {
    expect(causeOf({ unverified: [other, claim(facts as Record<string, string>)] })).toBe('other_came_in');
  });

  it('is one beside an unverified event of less, or of an amount that cannot be read or compared', () => {
    expect(causeOf({ unverified: [claim({ cryptoAmount: '5' }), other] })).toBe('less_came_in');
    expect(causeOf({ unverified: [other, claim({ refundCryptoAmount: '5' })] })).toBe('less_came_in');
    expect(causeOf({ unverified: [claim({ cryptoAmount: UNREADABLE }), other] })).toBe('unverified_amount_unread');
  });

  it('is none by an amount that cannot be read: such terms are refused by another rule', () => {
    expect(causeOf({ cameIn: { cryptoAmount: UNREADABLE } })).toBeUndefined();
  });

  it('is none by an unverified event of less when nothing proves how much was asked for: nothing can be sent anyway', () => {
    const input = { crypto_payment: { address: '0x1' } };
    expect(causeOf({ input, unverified: [claim({ cryptoAmount: '5' })] })).toBeUndefined();
  });
});
