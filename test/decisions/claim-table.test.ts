import { describe, expect, it } from '@jest/globals';
import {
  after,
  closedByOrder,
  isInTheWay,
  NO_CLAIM,
  OPERATIONS,
  PHASES,
  sentOf,
  voidedAll,
  whyNotMarked,
  type By,
  type ClaimFacts,
  type Operation,
} from '../../src/protocol/claim-table.js';

const by = (members: Partial<By> = {}): By => ({ nowMs: 1_000, owner: 'a', ...members });
const path = (operations: readonly Operation[], of: By = by(), from: ClaimFacts = NO_CLAIM): ClaimFacts =>
  operations.reduce((claim, operation) => after(claim, operation, of), from);

const RESERVED = path(['reserve']);
const SENDING = path(['reserve', 'mark']);
const ORDERED = after(SENDING, 'orderAgain', by({ owner: 'ordered' }));

describe('the table of claims', () => {
  it('leads to a listed phase from every phase by every operation, and leaves alone what it does not list', () => {
    for (const phase of PHASES) {
      for (const operation of OPERATIONS) {
        const claim = { ...NO_CLAIM, phase };
        const next = after(claim, operation, by());
        expect(PHASES).toContain(next.phase);
        if (phase === 'answered') expect(next.phase).toBe('answered');
      }
    }
  });

  it('lets only its owner mark a claim, and says that a fenced attempt was fenced rather than held back', () => {
    const taken = after(RESERVED, 'reserve', by({ owner: 'b' }));
    expect(after(taken, 'mark', by())).toBe(taken);
    expect(whyNotMarked(taken, by())).toBe('fenced');
    expect(after(taken, 'mark', by({ owner: 'b', guarded: true }))).toBe(taken);
    expect(whyNotMarked(taken, by({ owner: 'b', guarded: true }))).toBe('held-back');
    expect(after(taken, 'mark', by({ owner: 'b' }))).toMatchObject({ phase: 'sending', sentAtMs: 1_000 });
  });

  it('forgets a POST that never left, and remembers one that the service turned away', () => {
    expect(sentOf(after(SENDING, 'release', by()))).toBe('nothing');
    const turnedAway = after(SENDING, 'turnAway', by());
    expect(turnedAway).toMatchObject({ phase: 'reserved', turnedAway: 1 });
    expect(sentOf(turnedAway)).toBe('turned-away');
    expect(sentOf(ORDERED)).toBe('unknown');
  });

  it('says of a void claim that a person closed after it was sent that it was sent', () => {
    const closed = after(SENDING, 'close', by());
    expect(closed.phase).toBe('void');
    expect(sentOf(closed)).not.toBe('nothing');
    expect(sentOf(after(NO_CLAIM, 'void', by()))).toBe('nothing');
  });

  it('closes, and orders again, only a POST that can no longer be under way', () => {
    const soon = by({ owner: 'b', nowMs: 1_999, windowMs: 1_000 });
    expect(after(SENDING, 'close', soon)).toBe(SENDING);
    expect(after(SENDING, 'orderAgain', soon)).toBe(SENDING);
    const later = { ...soon, nowMs: 2_000 };
    expect(after(SENDING, 'close', later).phase).toBe('void');
    expect(after(SENDING, 'orderAgain', later)).toMatchObject({ phase: 'reserved', owner: 'b', ordered: true });
  });

  it('takes another send back, after which its old owner does not open it again', () => {
    const heldBack = after(ORDERED, 'holdBack', by());
    expect(heldBack).toMatchObject({ phase: 'sending', heldBack: true });
    expect(after(heldBack, 'release', by({ owner: 'ordered' }))).toBe(heldBack);
    expect(after(RESERVED, 'holdBack', by()).phase).toBe('reserved');
  });

  it('confirms a refusal that was noted, and none against an event', () => {
    const noted = after(SENDING, 'noteRefusal', by());
    expect(after(SENDING, 'confirmRefusal', by())).toBe(SENDING);
    expect(after(noted, 'confirmRefusal', by({ guarded: true }))).toBe(noted);
    expect(after(noted, 'confirmRefusal', by()).phase).toBe('rejected');
  });

  it('voids all claims of a flow or none', () => {
    expect(voidedAll([RESERVED, SENDING], by())).toEqual([RESERVED, SENDING]);
    expect(voidedAll([RESERVED, NO_CLAIM], by({ guarded: true }))).toEqual([RESERVED, NO_CLAIM]);
    expect(voidedAll([RESERVED, NO_CLAIM], by()).map(({ phase }) => phase)).toEqual(['void', 'void']);
    const rejected = after(SENDING, 'reject', by());
    expect(voidedAll([rejected, NO_CLAIM], by()).map(({ phase }) => phase)).toEqual(['rejected', 'void']);
  });

  it('counts what was turned away as not executed only as far as the caller knows of it', () => {
    const turnedAway = after(SENDING, 'turnAway', by());
    expect(isInTheWay(turnedAway)).toBe(true);
    expect(isInTheWay(turnedAway, { turnedAway: 1 })).toBe(false);
    expect(voidedAll([turnedAway, NO_CLAIM], by(), [1])[0]?.phase).toBe('void');
    expect(voidedAll([turnedAway, NO_CLAIM], by(), [0, 1])[0]).toBe(turnedAway);
  });

  it('closes all claims by a last word, or none while a POST of one may be under way', () => {
    const order = by({ nowMs: 1_500, windowMs: 1_000 });
    expect(closedByOrder([RESERVED, SENDING], order)).toEqual([RESERVED, SENDING]);
    const closed = closedByOrder([RESERVED, SENDING, ORDERED], { ...order, nowMs: 2_000 });
    expect(closed.map(({ phase }) => phase)).toEqual(['void', 'sending', 'sending']);
    expect(closed.every((claim) => claim.closed)).toBe(true);
  });
});
