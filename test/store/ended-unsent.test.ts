import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClaimActivities, pinOf } from '../../activities/claims.js';
import { voidAll } from '../../activities/void-all.js';
import type { Store } from '../../src/store/store.js';
import { depsOver } from './deciding-activities.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const word = {
  action: 'mark-completed',
  order: { actor: 'ada', note: 'looked into it' },
  against: [],
  reviewedEventIds: [],
} as const;
const flowId = 'invoice-payment/i1';

describe('a flow that ends before its first send', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let activities: ReturnType<typeof createClaimActivities>;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    activities = createClaimActivities(depsOver(store, {}));
  });
  afterEach(() => temporary.remove());

  const keyOf = (operation: string, reference: string) => ({ account: 'default', operation, reference });
  /** Whether all that it may send under is void by then. */
  const isVoid = async (order: Omit<Parameters<typeof voidAll>[1], 'reviewedEventIds'>) =>
    (await voidAll(depsOver(store, {}), { ...order, reviewedEventIds: [] })).isDone;
  const asked = (wasReset: boolean) => isVoid({ flowId, claims: [], done: [], reason: 'cancelled', wasReset });
  const phasesOf = async (id: string) => (await store.claims.ofFlow(id)).map(({ phase }) => phase).toSorted();
  const claimOf = async (operation: string) =>
    ({ operation, reference: 'i1', flowId, fingerprint: 'f', pin: await pinOf(depsOver(store, {})) }) as const;

  it('has sent nothing if it has no claim, unless it was reset after the store was restored: its claims may be lost', async () => {
    await store.deployment.raiseEpoch(1);
    expect(await asked(true)).toBe(false);
    expect(await asked(false)).toBe(true);
    // By that its claims are closed, so that a reset sends nothing.
    expect(await asked(true)).toBe(true);
    expect(await phasesOf(flowId)).toEqual(['void', 'void']);
  });

  it('sends nothing later, after a reset, under a claim that no attempt had reserved', async () => {
    const order = { flowId, claims: [await claimOf('payInvoice')], done: [], reason: 'cancelled', wasReset: false };
    expect(await isVoid(order)).toBe(true);
    const ask = { owner: 'o', flowId, fingerprint: 'f' };
    expect(await store.claims.reserve(keyOf('payInvoice', 'i1'), ask)).toMatchObject({ kind: 'void' });
  });

  it.each(['it ended by itself', 'a person said how it ended'])(
    'sends nothing later, after a reset, under a claim that it had not named when %s',
    async (how) => {
      const claims = [await claimOf('createInvoice')];
      const key = keyOf('createInvoice', 'i1');
      await store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
      await store.claims.markSending(key, 'o');
      await store.claims.recordAnswer(key, {});
      const ended = { flowId, claims, wasReset: false };
      if (how === 'it ended by itself')
        expect(await isVoid({ ...ended, done: ['createInvoice'], reason: 'deadline_passed' })).toBe(true);
      else expect(await activities.closeByOrder({ ...ended, ...word })).toEqual([]);
      expect(await phasesOf(flowId)).toEqual(['answered', 'void']);
    },
  );

  it('keeps its claim in sending when a person closes it, if that claim may have been lost in a restore', async () => {
    await store.deployment.raiseEpoch(1);
    expect(await activities.closeByOrder({ ...word, flowId: 'crypto-send/c1', claims: [], wasReset: true })).toEqual(
      [],
    );
    expect(await phasesOf('crypto-send/c1')).toEqual(['sending']);
  });

  it('has sent nothing under a claim that it had not named if it continued after the store was restored', async () => {
    await store.deployment.raiseEpoch(1);
    const ended = { flowId, claims: [await claimOf('createInvoice')], done: ['createInvoice'], wasReset: true };
    await store.claims.reserve(keyOf('createInvoice', 'i1'), { owner: 'o', flowId, fingerprint: 'f' });
    expect(await isVoid({ ...ended, reason: 'deadline_passed' })).toBe(true);
    expect(await phasesOf(flowId)).toEqual(['reserved', 'void']);
  });

  it('has sent nothing if it names all of its claims, and continued in a store that was restored before it began', async () => {
    await store.deployment.raiseEpoch(1);
    const claims = [await claimOf('createInvoice'), await claimOf('payInvoice')];
    expect(await isVoid({ flowId, claims, done: [], reason: 'cancelled', wasReset: true })).toBe(true);
    expect(await phasesOf(flowId)).toEqual(['void', 'void']);
  });

  it('may have sent under a claim that it had not named if it was reset, and the store was restored since it began', async () => {
    const ended = { flowId, claims: [await claimOf('createInvoice')], done: ['createInvoice'], reason: 'cancelled' };
    await store.claims.reserve(keyOf('createInvoice', 'i1'), { owner: 'o', flowId, fingerprint: 'f' });
    await store.deployment.raiseEpoch(1);
    expect(await isVoid({ ...ended, wasReset: true })).toBe(false);
  });

  it('voids every claim of its kind by voidAll, or none against an event that it has not judged, which it gets', async () => {
    const deps = depsOver(store, {});
    const ended = { flowId, claims: [await claimOf('createInvoice')], done: [], reason: 'cancelled', wasReset: false };
    const event = anEvent({ flowId, proof: null, status: 'PENDING' });
    await store.inbox.receive(event);
    const refused = await voidAll(deps, { ...ended, reviewedEventIds: [] });
    expect(refused).toMatchObject({ isDone: false, events: [{ id: event.id, trusted: false }] });
    expect(refused.claims).toContainEqual({
      operation: 'payInvoice',
      reference: 'i1',
      phase: 'absent',
      sent: 'nothing',
    });
    expect(await phasesOf(flowId)).toEqual([]);
    expect(await voidAll(deps, { ...ended, reviewedEventIds: [event.id] })).toMatchObject({ isDone: true });
    expect(await phasesOf(flowId)).toEqual(['void', 'void']);
  });

  it('is asked again by voidAll while a webhook under its reference is matched', async () => {
    await store.inbox.receive(anEvent({ source: 'webhook', flowId: null, reference: 'i1', toMatch: true }));
    const deps = depsOver(store, {});
    const ended = { flowId, claims: [], done: [], reason: 'cancelled', wasReset: false, reviewedEventIds: [] };
    await expect(voidAll(deps, ended)).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    expect(await phasesOf(flowId)).toEqual([]);
  });

  it("leaves the claim of a refund alone if its own reference is that refund's: the claim is of another flow", async () => {
    const key = keyOf('sendCrypto', 'b1.refund');
    await store.claims.reserve(key, { owner: 'o', flowId: 'bridge-transfer/b1', fingerprint: 'f' });
    const ended = { flowId: 'crypto-send/b1.refund', claims: [], wasReset: false };
    expect(await isVoid({ ...ended, done: [], reason: 'cancelled' })).toBe(true);
    expect(await activities.closeByOrder({ ...ended, ...word })).toEqual([]);
    expect(await phasesOf('bridge-transfer/b1')).toEqual(['reserved']);
  });
});
