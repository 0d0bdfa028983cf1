import { describe, expect, it } from 'vitest';
import { foldStatus, NOTHING_SEEN } from '../../workflows/bridge/statuses.js';
import { trusted } from '../harness/inputs.js';
import { factsTogether, fundsHeld, refundBegun } from '../../workflows/bridge/refund-due.js';

const NO_CLAIM = { cameIn: {}, unverified: [] };

describe('a refund', () => {
  it.each(['PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING'] as const)('is due after %s and a bare FAILED', (status) => {
    const statuses = foldStatus(foldStatus(NOTHING_SEEN, status), 'FAILED');
    expect(fundsHeld({ failure: trusted('FAILED'), statuses, ...NO_CLAIM })).toBe('shown');
  });

  it.each([{ refundAnnounced: 'true' }, { cryptoReceivedAt: '2026-01-01T00:00:00Z' }, { failureStage: 'SETTLEMENT' }])(
    'is due if the FAILED says so itself: %j',
    (facts) => {
      const statuses = foldStatus(NOTHING_SEEN, 'FAILED');
      expect(fundsHeld({ failure: trusted('FAILED', { facts }), statuses, ...NO_CLAIM })).toBe('shown');
    },
  );

  it.each(['COMPLETED', 'Success', 'PROCESSING', 'IN_PROGRESS', 'initiated', 'SENT', 'a word of tomorrow'])(
    'may be made by the service already if a FAILED says %j about it, in any order of the events',
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
    'is announced at most if a FAILED says %j about it',
    (refundStatus) => expect(refundBegun({ refundAnnounced: 'true', refundStatus })).toBe(false),
  );

  it.each([
    trusted('PAYMENT_SENT'),
    trusted('settling'),
    trusted('FAILED', { facts: { refundAnnounced: 'true' } }),
    trusted('FAILED', { facts: { failureStage: 'settlement' } }),
    trusted('DEPOSIT_CONFIRMED', { facts: { cryptoReceivedAt: '2026-01-01T00:00:00Z' } }),
  ])('is neither due nor ruled out against an untrusted $status with $facts', (claim) => {
    const unverified = [trusted('DEPOSIT_INITIATED'), { ...claim, trusted: false, proof: null }];
    for (const failureStage of ['deposit', 'payout']) {
      const known = { failure: trusted('FAILED', { facts: { failureStage } }), statuses: NOTHING_SEEN, cameIn: {} };
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
});
