import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Claim, type ClaimPhase, isOver, NO_LAST_WORDS } from '../../src/store/claim.js';
import { claimOf, type ClaimRow, placeOf, type SealedColumn } from '../../src/store/claim-row.js';
import type { Store } from '../../src/store/store.js';
import { createSealedJson } from '../../src/store/store-key.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const PHASES: readonly ClaimPhase[] = ['reserved', 'sending', 'answered', 'rejected', 'void'];
const key = { account: 'kenya', operation: 'sendCrypto', reference: 'r1' };
const RESERVED_AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:05.000Z';
const base = { ...key, owner: 'o', flowId: 'crypto-send/r1', fingerprint: 'f', reservedAt: RESERVED_AT };

describe('claimOf', () => {
  const sealed = createSealedJson(keyring);
  const seal = (column: SealedColumn, value: unknown) => sealed.seal(placeOf(key, column), value);
  const row = (more: Partial<ClaimRow>): ClaimRow => ({
    ...key,
    phase: 'reserved',
    owner: 'o',
    flow_id: 'crypto-send/r1',
    fingerprint: 'f',
    reserved_at: Date.parse(RESERVED_AT),
    sending_at: null,
    ended_at: null,
    turned_away: 0,
    answer: null,
    rejection: null,
    kept: null,
    reason: null,
    sends_ordered: 0,
    ...more,
  });
  const ended = { sending_at: Date.parse(RESERVED_AT), ended_at: Date.parse(LATER) };
  const times = { sendingAt: RESERVED_AT, endedAt: LATER, sent: 'unknown' } as const;
  const kept = { httpStatus: 201, contentType: 'application/json', body: '{}' };
  const rejection = { httpStatus: 400, message: 'no' };

  it.each<[string, Partial<ClaimRow>, Partial<Claim>]>([
    ['that is only reserved', {}, { phase: 'reserved', sent: 'nothing' }],
    [
      'in sending',
      { phase: 'sending', sending_at: 0 },
      { phase: 'sending', sendingAt: '1970-01-01T00:00:00.000Z', sent: 'unknown' },
    ],
    [
      'that was answered',
      { phase: 'answered', ...ended, answer: seal('answer', { id: 1 }), kept: seal('kept', kept) },
      { phase: 'answered', ...times, answer: { id: 1 }, kept },
    ],
    [
      'that was refused',
      { phase: 'rejected', ...ended, rejection: seal('rejection', rejection) },
      { phase: 'rejected', ...times, rejection },
    ],
    [
      'in sending, with a refusal that is not confirmed',
      { phase: 'sending', sending_at: 0, rejection: seal('rejection', rejection) },
      { phase: 'sending', sendingAt: '1970-01-01T00:00:00.000Z', sent: 'unknown', rejection },
    ],
    [
      'that is void',
      { phase: 'void', ended_at: Date.parse(LATER), reason: seal('reason', 'late') },
      { phase: 'void', endedAt: LATER, reason: 'late', sent: 'nothing' },
    ],
    ['whose answer was erased', { phase: 'answered', ...ended }, { phase: 'answered', ...times, erased: true }],
    ['whose refusal was erased', { phase: 'rejected', ...ended }, { phase: 'rejected', ...times, erased: true }],
  ])('returns what is known of a claim %s, and no member for anything else', (_which, stored, read) => {
    expect(claimOf(row(stored), sealed)).toStrictEqual({ ...base, ...read });
  });

  it('throws if a value was sealed for another claim, or another column of it', () => {
    const answer = seal('answer', { id: 1 });
    for (const moved of [{ account: 'ghana' }, { operation: 'payInvoice' }, { reference: 'r2' }]) {
      expect(() => claimOf(row({ ...moved, phase: 'answered', answer }), sealed)).toThrow();
    }
    expect(() => claimOf(row({ phase: 'answered', kept: answer }), sealed)).toThrow();
  });
});

describe('a claim', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  it('is over (isOver) only once it is void or rejected', () => {
    expect(PHASES.filter(isOver)).toEqual(['rejected', 'void']);
    expect(isOver(undefined)).toBe(false);
  });

  const attempt = { owner: 'a', flowId: 'crypto-send/r1', fingerprint: 'f' };
  const order = { actor: 'ann', note: 'looked at the chain' };
  const sent = async () => (await store.claims.get(key))?.sent;

  it('says that it may have been sent from the moment of markSending, whatever orders come after it', async () => {
    await store.claims.reserve(key, attempt);
    expect(await sent()).toBe('nothing');
    await store.claims.markSending(key, 'a');
    expect(await sent()).toBe('unknown');
    await store.claims.orderSendAgain(key, 'b', order);
    expect((await store.claims.get(key))?.phase).toBe('reserved');
    expect(await sent()).toBe('unknown');
    expect(await store.claims.closeNotExecuted(key, order)).toEqual({ isDone: true, phase: 'void', sent: 'unknown' });
    expect(await sent()).toBe('unknown');
  });

  it('says that it was not sent if it was only closed or held back by an order', async () => {
    await store.claims.reserve(key, attempt);
    await store.claims.recordDecision(key, 'held-back', order);
    expect(await sent()).toBe('nothing');
    expect(await store.claims.closeNotExecuted(key, order)).toEqual({ isDone: true, phase: 'void', sent: 'nothing' });
  });

  it('has no last word after orders with which its flow goes on: send-again, held-back', async () => {
    expect(NO_LAST_WORDS).toEqual(['send-again', 'held-back']);
    await store.claims.reserve(key, attempt);
    await store.claims.markSending(key, 'a');
    await store.claims.orderSendAgain(key, 'b', order);
    await store.claims.recordDecision(key, 'held-back', order);
    expect(await store.claims.recordAnswer(key, {})).toMatchObject({ lastWord: null });
  });
});
