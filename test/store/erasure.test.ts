import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SEALED_TABLES } from '../../src/store/sealed-rows.js';
import type { Store } from '../../src/store/store.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const FLOW = 'onramp/r1';
const key = { account: 'default', operation: 'createOnramp', reference: 'r1' };
const kept = { httpStatus: 201, contentType: 'application/json', body: '{"data":{"phone":"+254712345678"}}' };
const DAY_MS = 86_400_000;

describeStores('the erasure of a flow', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const attempt = (owner: string, reference = 'r1') => ({ owner, flowId: `onramp/${reference}`, fingerprint: 'f' });
  const sent = async (reference: string) => {
    await store.claims.reserve({ ...key, reference }, attempt('a', reference));
    await store.claims.markSending({ ...key, reference }, 'a');
  };
  const answered = async (reference: string) => {
    await sent(reference);
    await store.claims.recordAnswer({ ...key, reference }, { id: 'KOT-1' }, kept);
  };
  const note = (flowId: string) => ({ actor: 'ann', means: 'token', flowId, details: { note: 'she called' } }) as const;

  /** One flow with something in each table that has sealed values of a flow. */
  const lived = async (reference: string) => {
    const flowId = `onramp/${reference}`;
    await answered(reference);
    await store.claims.recordDecision({ ...key, reference }, 'mark-completed', { actor: 'ann', note: 'she called' });
    const refused = { ...key, operation: 'sendCrypto', reference };
    await store.claims.reserve(refused, attempt('a', reference));
    await store.claims.markSending(refused, 'a');
    await store.claims.recordRejection(refused, 'a', { httpStatus: 400, message: 'not Ann' }, kept);
    const event = anEvent({ flowId, reference });
    await store.inbox.receive(event);
    await store.inbox.settle([{ id: event.id, state: 'late', detail: 'it names Ann' }]);
    await store.audit.append({ ...note(flowId), kind: 'start' });
    await store.audit.append({ ...note(flowId), kind: 'order' });
    const open = { flowId, topic: 'decision', id: 'p1', subject: 's', action: 'mark-failed', choice: {}, by: 'ann' };
    await store.proposals.propose({ ...open, note: 'she called' }, DAY_MS);
    return event;
  };
  const erase = async () => {
    await store.audit.append({ ...note(FLOW), kind: 'erase', details: { note: 'request 12' } });
    return store.erase(FLOW);
  };

  it('removes notes and answers, and keeps phases, fingerprints, hashes and other flows', async () => {
    const event = await lived('r1');
    await lived('r2');
    expect(await erase()).toEqual({ events: 1, claims: 2, entries: 2 });

    const left = await store.claims.ofFlow(FLOW);
    expect(left).toMatchObject([
      { phase: 'answered', fingerprint: 'f', erased: true },
      { phase: 'rejected', fingerprint: 'f', erased: true },
    ]);
    for (const claim of left)
      for (const member of ['answer', 'kept', 'rejection', 'reason']) expect(claim).not.toHaveProperty(member);
    expect(await store.claims.orders(key)).toMatchObject([
      { action: 'mark-completed', actor: 'ann', note: '(erased)' },
    ]);
    expect(await store.inbox.get(event.id)).toMatchObject({
      state: 'late',
      contentHash: event.contentHash,
      detail: null,
    });
    expect(await store.inbox.receive({ ...event, id: 'again' })).toEqual({ kind: 'duplicate', id: event.id });
    expect(await store.proposals.get({ flowId: FLOW, topic: 'decision' })).toBeUndefined();

    expect(await store.claims.get({ ...key, reference: 'r2' })).toMatchObject({ answer: { id: 'KOT-1' }, kept });
    const ofOther = await store.audit.list({ flowId: 'onramp/r2', limit: 9 });
    expect(ofOther.map(({ details }) => details?.['note'])).toEqual(['she called', 'she called']);
    expect(await erase()).toEqual({ events: 0, claims: 0, entries: 0 });
  });

  it('leaves no sealed value of the flow in any table, except for the note of the erasure', async () => {
    await lived('r1');
    await erase();
    const all: Record<string, unknown[]> = {};
    for (const { name, sealed } of SEALED_TABLES) {
      for (const row of await temporary.execute(`SELECT * FROM ${name}`)) {
        const values = sealed.filter((column) => row[column] != null);
        if (values.length > 0) (all[name] ??= []).push(row['kind'] ?? values.join());
      }
    }
    // The first entry of the chain is about no flow. The note of the order says that it was erased.
    expect(all).toEqual({ audit: ['chain', 'erase'], claim_orders: ['note'] });
  });

  it('leaves claims that block another send, answered or refused', async () => {
    await lived('r1');
    await erase();
    expect(await store.claims.reserve(key, attempt('b'))).toEqual({ kind: 'answered', answer: undefined });
    expect(await store.claims.reserve(key, { ...attempt('b'), fingerprint: 'other' })).toEqual({
      kind: 'other-fingerprint',
    });
    expect(await store.claims.markSending(key, 'b')).toBe('fenced');
    expect(await store.claims.orderSendAgain(key, 'b', { actor: 'ann', note: '' })).toMatchObject({ isDone: false });
    expect(await store.claims.voidUnsent(key, attempt('b'), 'late')).toMatchObject({ phase: 'answered' });
    const refused = { kind: 'rejected', rejection: { httpStatus: 0, message: '' } };
    expect(await store.claims.reserve({ ...key, operation: 'sendCrypto' }, attempt('b'))).toEqual(refused);
  });

  it('keeps the body of an event that is still to be delivered to its flow', async () => {
    await lived('r1');
    const waiting = anEvent({ flowId: FLOW });
    await store.inbox.receive(waiting);
    expect(await erase()).toMatchObject({ events: 1 });
    expect((await store.inbox.get(waiting.id))?.body).toEqual(waiting.body);
  });

  it('leaves an audit log in which nothing is wrong, unlike details that vanish without an erasure', async () => {
    await lived('r1');
    await lived('r2');
    await erase();
    const entries = await store.audit.list({ flowId: FLOW, limit: 9 });
    expect(entries.map(({ kind: word, details }) => [word, details?.['note'] ?? null])).toEqual([
      ['erase', 'request 12'],
      ['order', null],
      ['start', null],
    ]);
    expect((await store.audit.verify()).problems).toEqual([]);
    await temporary.execute(`UPDATE audit SET details = NULL WHERE flow_id = 'onramp/r2' AND kind = 'order'`);
    expect((await store.audit.verify()).problems).toMatchObject([{ code: 'details_missing', chain: 1, entry: 5 }]);
  });

  it('is not needed for old answers: purgeAnswers clears claims that ended before a moment, however many, and no others', async () => {
    // More than one piece of what is cleared at once.
    await temporary.execute(`INSERT INTO claims
      (account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at, ended_at, answer)
      WITH RECURSIVE more(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM more WHERE number < 600)
      SELECT 'default', 'createOnramp', 'old-' || number, 'answered', 'a', 'onramp/old', 'f', 0, 0,
        ${kind === 'postgres' ? `'\\x00'::bytea` : `X'00'`} FROM more`);
    await sent('open');
    await store.claims.noteRefusal({ ...key, reference: 'open' }, 'a', { httpStatus: 400, message: 'known' }, kept);
    temporary.clock.advance(2 * DAY_MS);
    await answered('new');
    const yesterday = new Date(temporary.clock.now() - DAY_MS);
    expect(await store.claims.purgeAnswers(yesterday)).toBe(600);
    expect(await store.claims.purgeAnswers(yesterday)).toBe(0);
    expect(await store.claims.get({ ...key, reference: 'old-7' })).toMatchObject({ phase: 'answered', erased: true });
    expect(await store.claims.get({ ...key, reference: 'open' })).toMatchObject({ rejection: { message: 'known' } });
    expect(await store.claims.get({ ...key, reference: 'new' })).toMatchObject({ answer: { id: 'KOT-1' } });
  });

  it('counts each event and claim that had something of persons or the service', async () => {
    const claim = (operation: string) => ({ ...key, operation });
    for (const operation of ['answered', 'refused', 'void', 'open']) {
      await store.claims.reserve(claim(operation), attempt('a'));
      if (operation !== 'void' && operation !== 'open') await store.claims.markSending(claim(operation), 'a');
    }
    await store.claims.recordAnswer(claim('answered'), { id: 1 });
    await store.claims.recordRejection(claim('refused'), 'a', { httpStatus: 400, message: 'no' });
    await store.claims.voidUnsent(claim('void'), attempt('a'), 'not needed');
    const [plain, purged, empty] = [anEvent({ flowId: FLOW }), anEvent({ flowId: FLOW }), anEvent({ flowId: FLOW })];
    for (const event of [plain, purged, empty]) await store.inbox.receive(event);
    await store.inbox.settle([
      { id: plain.id, state: 'applied' },
      { id: purged.id, state: 'late', detail: 'it names Ann' },
      { id: empty.id, state: 'applied' },
    ]);
    await temporary.execute(`UPDATE inbox SET body = NULL WHERE id IN ('${purged.id}', '${empty.id}')`);
    expect(await store.erase(FLOW)).toEqual({ events: 2, claims: 3, entries: 0 });
    expect(await store.inbox.get(plain.id)).toMatchObject({ state: 'applied', body: undefined });
    expect(await store.inbox.get(purged.id)).toMatchObject({ state: 'late', detail: null });
    expect(await store.claims.get(claim('void'))).not.toHaveProperty('reason');
  });
});
