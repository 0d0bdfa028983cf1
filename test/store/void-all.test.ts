import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { describeStores } from './store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'bridge-transfer/r1';
const of = { flowId, fingerprint: 'f' };
const DEPOSIT: ClaimKey = { account: 'default', operation: 'createBridgeDeposit', reference: 'r1' };
const REFUND: ClaimKey = { account: 'default', operation: 'sendCrypto', reference: 'r1.refund' };
const BOTH = [DEPOSIT, REFUND].map((key) => ({ key, ...of }));
const order = { actor: 'ada', note: 'not at the service' };

describeStores('voidAll of the claims of a flow', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let claims: ClaimStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    claims = store.claims;
  });
  afterEach(() => temporary.remove());

  const voidAll = (reviewedEventIds: readonly string[] = [], of2 = BOTH) =>
    claims.voidAll(of2, 'cancelled', { flowId, reviewedEventIds });
  const phases = async () => [(await claims.get(DEPOSIT))?.phase, (await claims.get(REFUND))?.phase];
  const send = async (key: ClaimKey, owner = 'a') => {
    await claims.reserve(key, { owner, ...of });
    expect(await claims.markSending(key, owner)).toBe('sending');
  };

  it('voids those that are absent or reserved, and says so again when it is repeated', async () => {
    await claims.reserve(DEPOSIT, { owner: 'a', ...of });
    const done = {
      isDone: true,
      claims: [
        { ...DEPOSIT, phase: 'void', sent: 'nothing' },
        { ...REFUND, phase: 'void', sent: 'nothing' },
      ],
      events: [],
      hasToMatch: false,
    };
    expect(await voidAll()).toEqual(done);
    expect(await claims.markSending(DEPOSIT, 'a')).toBe('fenced');
    expect(await voidAll()).toEqual(done);
    expect(await claims.get(DEPOSIT)).toMatchObject({ reason: 'cancelled' });
  });

  it('changes nothing if one of two was sent, and says which', async () => {
    await send(DEPOSIT);
    await claims.reserve(REFUND, { owner: 'b', ...of });
    expect(await voidAll()).toMatchObject({
      isDone: false,
      claims: [
        { operation: 'createBridgeDeposit', phase: 'sending', sent: 'unknown' },
        { operation: 'sendCrypto', phase: 'reserved', sent: 'nothing' },
      ],
    });
    expect(await phases()).toEqual(['sending', 'reserved']);
  });

  it.each(['answered', 'ordered'] as const)(
    'changes nothing if one was sent and is %s, in whatever order they are given',
    async (phase) => {
      await send(DEPOSIT);
      await (phase === 'answered' ? claims.recordAnswer(DEPOSIT, {}) : claims.orderSendAgain(DEPOSIT, 'b', order));
      const before = await phases();
      for (const given of [BOTH, BOTH.toReversed()]) {
        expect(await voidAll([], given)).toMatchObject({ isDone: false });
        expect(await phases()).toEqual(before);
      }
    },
  );

  it('changes nothing if a person closed one of them after it was sent: that nothing moved is not known', async () => {
    await send(DEPOSIT);
    await claims.closeNotExecuted(DEPOSIT, order);
    expect(await voidAll()).toMatchObject({ isDone: false, claims: [{ phase: 'void', sent: 'unknown' }, {}] });
    expect(await phases()).toEqual(['void', undefined]);
  });

  it('voids the others if one was rejected', async () => {
    await send(DEPOSIT);
    await claims.recordRejection(DEPOSIT, 'a', { httpStatus: 400, message: 'no' });
    expect(await voidAll()).toMatchObject({ isDone: true, claims: [{ phase: 'rejected' }, { phase: 'void' }] });
  });

  it('voids one that the service turned away only if as many are known to be not executed', async () => {
    await send(DEPOSIT);
    await claims.turnAway(DEPOSIT, 'a');
    const turnedAway = { phase: 'reserved', sent: 'turned-away' };
    expect(await voidAll()).toMatchObject({ isDone: false, claims: [turnedAway, { phase: 'absent' }] });
    const known = BOTH.map((claim) => ({ ...claim, turnedAway: 1 }));
    expect(await voidAll([], known)).toMatchObject({
      isDone: true,
      claims: [
        { phase: 'void', sent: 'turned-away' },
        { phase: 'void', sent: 'nothing' },
      ],
    });
  });

  it('changes nothing if an absent one may have been lost with its store', async () => {
    await store.deployment.raiseEpoch(0);
    const earlier = BOTH.map((claim) => ({ ...claim, epoch: 1 }));
    expect(await voidAll([], earlier)).toMatchObject({
      isDone: false,
      claims: [{ phase: 'absent', sent: 'unknown' }, {}],
    });
    expect(await phases()).toEqual([undefined, undefined]);
  });

  it.each([
    ['a trusted', 'capability'],
    ['an untrusted', null],
  ] as const)('changes nothing against %s event that was not judged, and returns it', async (_, proof) => {
    const event = anEvent({ flowId, proof, status: 'PENDING' });
    await store.inbox.receive(event);
    const found = await voidAll();
    expect(found).toMatchObject({ isDone: false, events: [{ id: event.id, proof, body: event.body }] });
    expect(await phases()).toEqual([undefined, undefined]);
    expect(await voidAll([event.id])).toMatchObject({ isDone: true, events: [{ id: event.id }] });
    expect(await phases()).toEqual(['void', 'void']);
  });

  it('returns an untrusted event that stands against it, however many came since that the flow never gets', async () => {
    const first = anEvent({ flowId, proof: null });
    await store.inbox.receive(first);
    for (let n = 0; n < 25; n += 1) {
      const flood = anEvent({ flowId, proof: null });
      await store.inbox.receive(flood);
      await store.inbox.settle([{ id: flood.id, state: 'unverified' }]);
    }
    const { isDone, events } = await voidAll();
    expect(isDone).toBe(false);
    expect(events.map(({ id }) => id)).toContain(first.id);
  });

  it('counts an event for which a person vouched as another one', async () => {
    const event = anEvent({ flowId, proof: null });
    await store.inbox.receive(event);
    await store.inbox.settle([{ id: event.id, state: 'unverified' }]);
    await store.inbox.replay(event.id, { proof: 'person' });
    expect(await voidAll([event.id])).toMatchObject({ isDone: false });
    expect(await voidAll([`${event.id}.vouched`])).toMatchObject({ isDone: true });
  });

  it('is not held up by untrusted events that its flow was never shown', async () => {
    const event = anEvent({ flowId, proof: null });
    await store.inbox.receive(event);
    await store.inbox.settle([{ id: event.id, state: 'quarantined' }]);
    expect(await voidAll()).toMatchObject({ isDone: true });
  });

  it('changes nothing while a webhook under the reference is not matched', async () => {
    const webhook = anEvent({ source: 'webhook', flowId: null, reference: 'r1', toMatch: true });
    await store.inbox.receive(webhook);
    expect(await voidAll()).toMatchObject({ isDone: false, hasToMatch: true, events: [] });
    expect(await phases()).toEqual([undefined, undefined]);
    await store.inbox.match(webhook.id, { flowId: null, reference: null, status: null });
    expect(await voidAll()).toMatchObject({ isDone: true, hasToMatch: false });
  });

  it('sees an event that comes beside it, or is done before that: never both void and unseen', async () => {
    const other = await temporary.open();
    const outcomes = new Set<boolean>();
    for (let round = 0; round < 30; round += 1) {
      const raced = `bridge-transfer/race${round}`;
      const two = BOTH.map(({ key, fingerprint }) => ({
        key: { ...key, reference: key.reference.replace('r1', `race${round}`) },
        flowId: raced,
        fingerprint,
      }));
      const event = anEvent({ flowId: raced, contentHash: raced });
      const voiding = () => claims.voidAll(two, 'cancelled', { flowId: raced, reviewedEventIds: [] });
      const receiving = () => other.inbox.receive(event);
      const isFirst = round % 2 === 0;
      const received = receiving();
      if (!isFirst) await received;
      const found = await voiding();
      await received;
      const stored = await Promise.all(two.map(({ key }) => claims.get(key)));
      outcomes.add(found.isDone);
      if (found.isDone) expect(stored.map((claim) => claim?.phase)).toEqual(['void', 'void']);
      else {
        expect(stored).toEqual([undefined, undefined]);
        expect(found.events).toMatchObject([{ id: event.id }]);
      }
    }
    expect(outcomes.has(false)).toBe(true);
  });

  it('wins or loses against an attempt that marks one of them, never half', async () => {
    const other = await temporary.open();
    for (let round = 0; round < 20; round += 1) {
      const [deposit, refund] = BOTH.map(({ key }) => ({ ...key, reference: `${key.reference}-${round}` }));
      if (deposit === undefined || refund === undefined) throw new Error('two claims');
      await claims.reserve(refund, { owner: 'a', ...of });
      const [found, marked] = await Promise.all([
        claims.voidAll(
          [deposit, refund].map((key) => ({ key, ...of })),
          'cancelled',
          { flowId, reviewedEventIds: [] },
        ),
        other.claims.markSending(refund, 'a'),
      ]);
      expect([found.isDone, marked]).toEqual(found.isDone ? [true, 'fenced'] : [false, 'sending']);
      expect((await claims.get(deposit))?.phase).toBe(found.isDone ? 'void' : undefined);
    }
  });
});
