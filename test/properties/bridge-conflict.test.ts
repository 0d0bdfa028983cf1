import { describe, expect, it } from '@jest/globals';
import type { Cause } from '../../src/protocol/causes.js';
import { conflictEvidence, isDecided } from '../../workflows/bridge/conflict.js';
import { trusted } from '../harness/inputs.js';
import { knownTransfer, seen } from './known-transfer.js';

const CAUSE: Cause = { code: 'proofs_exclude_one_another', text: 'they exclude one another' };
const claim = { ...trusted('COMPLETED'), trusted: false, proof: null };
const differing = { event: trusted('SETTLING'), differs: ['amount'] };

describe('what a person is shown of a conflict', () => {
  it('is what is proven and why it is asked, and no claim or refund of ours that there is not', () => {
    const statuses = seen('COMPLETED', 'REFUNDED');
    const { text: why, code } = CAUSE;
    expect(conflictEvidence(knownTransfer({ statuses }), CAUSE)).toStrictEqual({ proven: statuses.seen, why, code });
  });

  it('names claims, and the refund of ours that may have been sent', () => {
    const shown = conflictEvidence(knownTransfer({ unverified: [claim], ownRefund: 'r-1.refund' }), CAUSE);
    expect(shown).toMatchObject({ claimed: [{ id: claim.id, status: 'COMPLETED' }], ownRefund: 'r-1.refund' });
  });
});

describe('a wait for a person', () => {
  it.each([
    ['nothing', {}, false],
    ['a failure', { statuses: seen('FAILED') }, false],
    ['a completion', { statuses: seen('COMPLETED') }, false],
    ['a claim', { unverified: [claim] }, false],
    ['a refund', { statuses: seen('FAILED', 'REFUNDED') }, true],
    ['endings that exclude one another', { statuses: seen('COMPLETED', 'FAILED') }, true],
    ['an event that differs', { mismatches: [differing] }, true],
  ])('is over by %s: %s', (_, known, isOver) => {
    expect(isDecided(knownTransfer(known))()).toBe(isOver);
  });
});
