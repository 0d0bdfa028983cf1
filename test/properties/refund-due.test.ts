import { describe, expect, it } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { foldStatus, NOTHING_SEEN } from '../../workflows/bridge/statuses.js';
import { trusted } from '../harness/inputs.js';
import { factsTogether, fundsHeld, refundBegun, saysPaid, theirRefundIn } from '../../workflows/bridge/refund-due.js';

const NO_CLAIM = { cameIn: {}, theirRefund: {}, unverified: [] };

describe('the refund of a failed bridge transfer', () => {
  it.each(['PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING'] as const)('is due after %s and a bare FAILED', (status) => {
    const statuses = foldStatus(foldStatus(NOTHING_SEEN, status), 'FAILED');
    expect(fundsHeld({ failure: trusted('FAILED'), statuses, ...NO_CLAIM })).toBe('shown');
  });

  it.each([{ refundAnnounced: 'true' }, { cryptoReceivedAt: '2026-01-01T00:00:00Z' }, { failureStage: 'SETTLEMENT' }])(
    'is due when the FAILED itself has %j',
    (facts) => {
      const statuses = foldStatus(NOTHING_SEEN, 'FAILED');
      expect(fundsHeld({ failure: trusted('FAILED', { facts }), statuses, ...NO_CLAIM })).toBe('shown');
    },
  );

  it.each(['COMPLETED', 'Success', 'PROCESSING', 'IN_PROGRESS', 'initiated', 'SENT', 'a word of tomorrow'])(
    'may be under way at the service when a FAILED has the refund status %j, in any order of the events',
    (refundStatus) => {
      const said = { refundAnnounced: 'true', refundStatus };
      for (const other of [{}, { refundAnnounced: 'true' }, { refundAnnounced: 'true', refundStatus: 'PENDING' }]) {
        expect(refundBegun(factsTogether(said, other))).toBe(true);
        expect(refundBegun(factsTogether(other, said))).toBe(true);
      }
    },
  );

  it.each(['payout', 'fiat_payout', 'a word of tomorrow'])(
    'is not ruled out by a FAILED of an early stage beside one of the stage "%s", in any order',
    (failureStage) => {
      for (const facts of [
        factsTogether({ failureStage: 'deposit' }, { failureStage }),
        factsTogether({ failureStage }, { failureStage: 'deposit' }),
      ]) {
        const failure = trusted('FAILED', { facts });
        expect(fundsHeld({ failure, statuses: NOTHING_SEEN, ...NO_CLAIM })).toBe('cannot-tell');
      }
    },
  );

  it.each(['PENDING', 'FAILED', 'not_started', 'REJECTED', ' '])(
    'is at most announced when a FAILED has the refund status %j',
    (refundStatus) => expect(refundBegun({ refundAnnounced: 'true', refundStatus })).toBe(false),
  );

  it.each([
    trusted('PAYMENT_SENT'),
    trusted('SETTLING'),
    trusted('FAILED', { facts: { refundAnnounced: 'true' } }),
    trusted('FAILED', { facts: { failureStage: 'settlement' } }),
    trusted('DEPOSIT_CONFIRMED', { facts: { cryptoReceivedAt: '2026-01-01T00:00:00Z' } }),
  ])('is neither due nor ruled out against an untrusted $status with $facts', (claim) => {
    const unverified = [trusted('DEPOSIT_INITIATED'), { ...claim, trusted: false, proof: null }];
    for (const failureStage of ['deposit', 'payout']) {
      const known = { failure: trusted('FAILED', { facts: { failureStage } }), statuses: NOTHING_SEEN, ...NO_CLAIM };
      expect(fundsHeld({ ...known, unverified })).toBe('cannot-tell');
    }
  });

  it('is ruled out only by a stage before the payment; a bare FAILED leaves it open', () => {
    const statuses = foldStatus(foldStatus(NOTHING_SEEN, 'DEPOSIT_CONFIRMED'), 'FAILED');
    const held = (facts: Record<string, string>) =>
      fundsHeld({ failure: trusted('FAILED', { facts }), statuses, ...NO_CLAIM });
    expect(held({ failureStage: 'deposit' })).toBe('absent');
    expect(held({ failureStage: 'FIAT_COLLECTION' })).toBe('absent');
    // The last leg pays fiat out: a word that only begins like an early stage decides nothing.
    for (const failureStage of [
      'payout',
      'fiat_payout',
      'fiat_settlement',
      'deposit_to_recipient',
      'validate_recipient',
    ])
      expect(held({ failureStage })).toBe('cannot-tell');
    expect(held({})).toBe('cannot-tell');
  });

  it.each([{ cryptoReceivedAt: UNREADABLE }, { failureStage: UNREADABLE }, { body: UNREADABLE }])(
    'is neither due nor ruled out by a failure of an early stage beside %j',
    (said) => {
      const failure = trusted('FAILED', { facts: { failureStage: 'deposit' } });
      const statuses = NOTHING_SEEN;
      expect(fundsHeld({ failure, statuses, ...NO_CLAIM, cameIn: said })).toBe('cannot-tell');
      const unread = trusted('FAILED', { facts: { failureStage: 'deposit', ...said } });
      expect(fundsHeld({ failure: unread, statuses, ...NO_CLAIM })).toBe('cannot-tell');
      const unverified = [trusted('DEPOSIT_INITIATED', { facts: said })];
      expect(fundsHeld({ failure, statuses, ...NO_CLAIM, unverified })).toBe('cannot-tell');
    },
  );

  it('is due when an event beside the failure has the time at which the crypto came in', () => {
    const failure = trusted('FAILED', { facts: { failureStage: 'deposit' } });
    const cameIn = { cryptoReceivedAt: '2026-01-01T00:00:00Z' };
    expect(fundsHeld({ failure, statuses: NOTHING_SEEN, ...NO_CLAIM, cameIn })).toBe('shown');
  });

  it.each(['refundStartedAt', 'refundMethodUsed', 'refundHash'])(
    'is begun when a FAILED has %s, readable or not, beside any refund status, in any order of the events',
    (sign) => {
      for (const fact of ['2026-01-01T00:00:00Z', UNREADABLE]) {
        const begun = { refundStatus: 'PENDING', [sign]: fact };
        for (const other of [{}, { refundStatus: 'PENDING' }, { refundStatus: 'FAILED' }]) {
          expect(refundBegun(factsTogether(begun, other))).toBe(true);
          expect(refundBegun(factsTogether(other, begun))).toBe(true);
        }
      }
    },
  );

  it.each<[string | null, Record<string, string>, boolean]>([
    ['REFUND_PENDING', {}, true],
    ['Refunding', {}, true],
    ['REVERSED', {}, true],
    ['refund SUCCESS', {}, true],
    ['SETTLING', { refundHash: 'ab' }, true],
    ['COMPLETED', { refundStatus: 'PROCESSING' }, true],
    [null, { refundStatus: 'initiated' }, true],
    ['REFUND_FAILED', {}, false],
    ['refund FAILED', {}, false],
    ['FAILED', { refundAnnounced: 'true', refundStatus: 'PENDING' }, false],
    ['SETTLING', {}, false],
    ['A_WORD_OF_TOMORROW', {}, false],
    [null, {}, false],
  ])(
    'is made by the service already by an event of %s with %j: %s, also beside another one',
    (status, facts, isBegun) => {
      const said = theirRefundIn({ status, facts });
      for (const other of [{}, { refundStatus: 'PENDING' }]) {
        expect(refundBegun(factsTogether(said, other))).toBe(isBegun);
        expect(refundBegun(factsTogether(other, said))).toBe(isBegun);
      }
    },
  );

  it('is not ruled out by a failure of an early stage if an event says that the service has begun it', () => {
    const failure = trusted('FAILED', { facts: { failureStage: 'deposit' } });
    const known = { failure, statuses: NOTHING_SEEN, ...NO_CLAIM };
    expect(fundsHeld({ ...known, theirRefund: theirRefundIn(trusted('REFUNDING')) })).toBe('cannot-tell');
    expect(fundsHeld({ ...known, theirRefund: theirRefundIn(trusted('REFUND_FAILED')) })).toBe('absent');
  });

  it('is not begun when no event has a fact about it', () => {
    expect([{}, { refundStatus: '' }, { refundStatus: ' , ' }].map(refundBegun)).toEqual([false, false, false]);
  });
});

describe('an event of a bridge transfer', () => {
  it.each<[string | null, Record<string, string>, boolean]>([
    ['DEPOSIT_INITIATED', {}, false],
    ['DEPOSIT_CONFIRMED', {}, false],
    ['PAYMENT_CONFIRMED', {}, true],
    ['SETTLING', {}, true],
    ['A_WORD_OF_TOMORROW', {}, false],
    [null, {}, false],
    [null, { body: UNREADABLE }, true],
    ['FAILED', { failureStage: 'deposit' }, false],
    ['FAILED', { failureStage: UNREADABLE }, true],
    ['FAILED', { cryptoReceivedAt: UNREADABLE }, true],
    ['FAILED', { refundAnnounced: 'true' }, true],
  ])('of status %s with %j proves that the crypto was paid: %s', (status, facts, isPaid) => {
    expect(saysPaid({ ...trusted('FAILED', { facts }), status })).toBe(isPaid);
  });
});

describe('two failures of one bridge transfer', () => {
  const owing = { refundAnnounced: 'true', refundCryptoAmount: '5' };
  it('have together the facts of the one that owes a refund, in any order, and else those of the first', () => {
    const other = { refundCryptoAmount: '7', serviceReference: 's' };
    const both = { ...owing, serviceReference: 's' };
    expect(factsTogether(owing, other)).toEqual(both);
    expect(factsTogether(other, owing)).toEqual(both);
    expect(factsTogether(owing, { ...owing, refundCryptoAmount: '6' })).toEqual(owing);
    expect(factsTogether({ token: 'USDC' }, { token: 'USDT' })).toEqual({ token: 'USDC' });
  });

  it('have together each refund status of the service once, in the order in which they came', () => {
    const words = (first: string, second: string) =>
      factsTogether({ refundStatus: first }, { refundStatus: second })['refundStatus'];
    expect(words('PENDING', 'COMPLETED')).toBe('PENDING, COMPLETED');
    expect(words('PENDING, COMPLETED', 'PENDING')).toBe('PENDING, COMPLETED');
  });

  it('have together no fact that neither has', () => {
    expect(factsTogether({}, {})).toStrictEqual({});
    expect(factsTogether({ failureStage: 'kyc' }, {})).toStrictEqual({ failureStage: 'kyc' });
  });
});
