import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pinOf } from '../../activities/claims.js';
import { createTurnedAwayActivities } from '../../activities/turned-away.js';
import { voidAll } from '../../activities/void-all.js';
import type { ClaimRef } from '../../activities/types.js';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { depsOver, missing, refuses, type Replaced } from './deciding-activities.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const order = { actor: 'ada', note: 'looked into it' };
const keyOf = (operation: string, reference = 'r1'): ClaimKey => ({ account: 'default', operation, reference });
const SEND = keyOf('sendCrypto');
const WITHDRAWAL = keyOf('createBankWithdrawal');
const DEPOSIT = keyOf('createBridgeDeposit');
const REFUND = keyOf('sendCrypto', 'r1.refund');
const of = (flowId: string) => ({ flowId, fingerprint: 'f' });

describeStores('a claim whose POST the service turned away', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let claims: ClaimStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    claims = store.claims;
  });
  afterEach(() => temporary.remove());

  const flowOf = ({ operation }: ClaimKey) =>
    operation === 'createBridgeDeposit' ? 'bridge-transfer/r1' : `${operation}/r1`;
  const send = async (key: ClaimKey, owner: string, flowId = flowOf(key)) => {
    await claims.reserve(key, { owner, ...of(flowId) });
    expect(await claims.markSending(key, owner)).toBe('sending');
  };
  const turnedAway = async (key: ClaimKey, owner = 'a', flowId = flowOf(key)) => {
    await send(key, owner, flowId);
    expect(await claims.turnAway(key, owner)).toMatchObject({ isDone: true });
  };
  const refOf = async ({ operation, reference }: ClaimKey, flowId: string): Promise<ClaimRef> => ({
    operation,
    reference,
    ...of(flowId),
    pin: await pinOf(depsOver(store)),
  });
  const phaseOf = async (key: ClaimKey) => (await claims.get(key))?.phase;
  /** Whether a stop of its flow voids these, and so all of them. */
  const isVoid = async (flowId: string, ...keys: readonly ClaimKey[]) => {
    const named = await Promise.all(keys.map((key) => refOf(key, flowId)));
    const order = { flowId, claims: named, done: [], reason: 'expired', wasReset: false, reviewedEventIds: [] };
    return (await voidAll(depsOver(store), order)).isDone;
  };

  it('is free for another attempt, to which its send is a repeat, also after one that never left', async () => {
    await turnedAway(SEND);
    const reserved = { kind: 'reserved', sentBefore: 'turned-away' };
    // Given the guard of a first send, too: a repeat is looked up before it is marked.
    const guard = { flowId: flowOf(SEND), statuses: [] };
    expect(await claims.reserve(SEND, { owner: 'b', ...of(flowOf(SEND)) }, guard)).toMatchObject(reserved);
    expect(await claims.markSending(SEND, 'b')).toBe('sending');
    expect(await claims.release(SEND, 'b')).toMatchObject({ isDone: true });
    expect(await claims.reserve(SEND, { owner: 'c', ...of(flowOf(SEND)) })).toMatchObject(reserved);
    await send(SEND, 'c');
    expect(await claims.turnAway(SEND, 'c')).toMatchObject({ isDone: true });
    expect(await claims.get(SEND)).toMatchObject({ phase: 'reserved', turnedAway: 2 });
    expect(await claims.get(SEND)).toMatchObject({ sent: 'turned-away' });
  });

  it('is handed back by its owner alone, and not after a person decided how its flow ended', async () => {
    await send(SEND, 'a');
    expect(await claims.turnAway(SEND, 'b')).toMatchObject({ isDone: false });
    await claims.recordDecision(SEND, 'mark-completed', order);
    expect(await claims.turnAway(SEND, 'a')).toMatchObject({ isDone: false });
    expect(await claims.get(SEND)).toMatchObject({ phase: 'sending' });
  });

  it('that was sent again by an order may have been executed, whatever the service answered to the others', async () => {
    await turnedAway(SEND);
    await send(SEND, 'b');
    await claims.orderSendAgain(SEND, 'ordered', order);
    const found = await claims.reserve(SEND, { owner: 'c', ...of(flowOf(SEND)) });
    expect(found).toMatchObject({ kind: 'reserved', sentBefore: 'unknown' });
    expect(await isVoid(flowOf(SEND), SEND)).toBe(false);
  });

  it('is not sent after a person decided how its flow ended, not even by a reset', async () => {
    await turnedAway(SEND);
    const flowId = flowOf(SEND);
    const unless = { flowId, statuses: [] };
    expect(await claims.closeByOrder([{ key: SEND, ...of(flowId) }], 'mark-failed', order, unless)).toMatchObject({
      kind: 'closed',
    });
    expect(await claims.reserve(SEND, { owner: 'late', ...of(flowId) })).toMatchObject({ kind: 'sending' });
  });

  it('is not sent after another send was taken back', async () => {
    await turnedAway(SEND);
    await claims.recordDecision(SEND, 'held-back', order);
    expect(await phaseOf(SEND)).toBe('sending');
  });

  it('is void by the word of the service where there is no lookup, and else only with the proof of that', async () => {
    for (const key of [WITHDRAWAL, SEND]) await turnedAway(key);
    expect(await isVoid(flowOf(WITHDRAWAL), WITHDRAWAL)).toBe(true);
    expect(await isVoid(flowOf(SEND), SEND)).toBe(false);
    expect([await phaseOf(WITHDRAWAL), await phaseOf(SEND)]).toEqual(['void', 'reserved']);
  });

  describe('and that has a lookup', () => {
    const proved = async (service: Replaced['service'], key = SEND) => {
      const deps = depsOver(store, service === undefined ? {} : { service });
      const ref = await refOf(key, flowOf(key));
      const order = { ...ref, reason: 'expired', timeScale: 0.001 };
      return (await createTurnedAwayActivities(deps).voidTurnedAway(order)).phase;
    };

    it('is void if three lookups show nothing', async () => {
      await turnedAway(SEND);
      let asked = 0;
      const getCryptoSend = () => ((asked += 1), missing());
      expect(await proved({ getCryptoSend })).toBe('void');
      expect(asked).toBe(3);
      expect(await claims.get(SEND)).toMatchObject({ phase: 'void', reason: 'expired' });
    });

    it.each([
      ['shows it', async () => ({ status: 'PENDING' })],
      ['is refused', refuses],
    ])('stays as it is if the lookup %s, the first time or the last', async (_, answer) => {
      await turnedAway(SEND);
      expect(await proved({ getCryptoSend: answer })).toBe('reserved');
      let asked = 0;
      expect(await proved({ getCryptoSend: () => ((asked += 1) < 3 ? missing() : answer()) })).toBe('reserved');
      expect(await phaseOf(SEND)).toBe('reserved');
    });

    it('stays as it is if another POST of it left while the service was asked', async () => {
      await turnedAway(SEND);
      let asked = 0;
      const getCryptoSend = async () => {
        if ((asked += 1) === 2) await turnedAway(SEND, 'b');
        return missing();
      };
      expect(await proved({ getCryptoSend })).toBe('reserved');
      expect(await proved({ getCryptoSend: missing })).toBe('void');
    });

    it('is that of a payment of an invoice: void if there is no record of it, and not if one says PENDING', async () => {
      const pay = keyOf('payInvoice');
      await turnedAway(pay);
      const shown = (status: string) => async () => ({ status, amount: '1', currency: 'KES' });
      expect(await proved({ getInvoicePayment: shown('SUCCESSFUL') }, pay)).toBe('reserved');
      expect(await proved({ getInvoicePayment: shown('PENDING') }, pay)).toBe('reserved');
      expect(await proved({ getInvoicePayment: missing }, pay)).toBe('void');
    });

    it('is left alone, and not asked about, in every other phase', async () => {
      expect(await proved({})).toBe('reserved');
      await send(SEND, 'a');
      expect(await proved({})).toBe('sending');
    });
  });

  describe('and that is one of several of its flow', () => {
    const flowId = 'bridge-transfer/r1';
    it('lets a stop void all of them if the service turned away what has no lookup', async () => {
      await turnedAway(DEPOSIT);
      expect(await isVoid(flowId, DEPOSIT, REFUND)).toBe(true);
      expect([await phaseOf(DEPOSIT), await phaseOf(REFUND)]).toEqual(['void', 'void']);
    });

    it('keeps a stop from voiding any of them if it has a lookup', async () => {
      await turnedAway(REFUND, 'a', flowId);
      expect(await isVoid(flowId, DEPOSIT, REFUND)).toBe(false);
      expect([await phaseOf(DEPOSIT), await phaseOf(REFUND)]).toEqual([undefined, 'reserved']);
    });
  });
});
