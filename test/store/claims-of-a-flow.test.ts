import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClaimActivities, pinFor, pinOf } from '../../activities/claims.js';
import { voidAll } from '../../activities/void-all.js';
import type { ClaimRef } from '../../activities/types.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { depsOver } from './deciding-activities.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'invoice-payment/i1';
const order = { actor: 'ada', note: 'looked into it' };
const unsent = { flowId, fingerprint: 'f' };
const keyOf = (operation: string) => ({ account: 'default', operation, reference: 'i1' });
const INVOICE = keyOf('createInvoice');
const PAYMENT = keyOf('payInvoice');
const REFUSED = { httpStatus: 400, message: 'no' };

describe('the claims of a flow', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let claims: ClaimStore;
  let deps: ActivityDeps;
  let activities: ReturnType<typeof createClaimActivities>;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    claims = store.claims;
    deps = depsOver(store);
    activities = createClaimActivities(deps);
  });
  afterEach(() => temporary.remove());

  const claimOf = async ({ operation, reference }: typeof INVOICE, epoch?: number): Promise<ClaimRef> => {
    const pin = await pinOf(deps);
    return { operation, reference, flowId, fingerprint: 'f', pin: { ...pin, epoch: epoch ?? pin.epoch } };
  };
  const send = async (key: typeof INVOICE) => {
    await claims.reserve(key, { owner: 'o', ...unsent });
    expect(await claims.markSending(key, 'o')).toBe('sending');
  };
  const phaseOf = async (key: typeof INVOICE) => (await claims.get(key))?.phase;
  const ending = { flowId, claims: [], done: [], reason: 'deadline_passed', wasReset: false };
  /** Whether all of them are void by then. */
  const isVoid = async (order: Omit<Parameters<typeof voidAll>[1], 'reviewedEventIds'>) =>
    (await voidAll(deps, { ...order, reviewedEventIds: [] })).isDone;

  it('take a refusal from the attempt that owns them, and from no other one', async () => {
    await send(INVOICE);
    const refused = { ...(await claimOf(INVOICE)), rejection: REFUSED };
    expect(await activities.recordRejection({ ...refused, owner: 'another' })).toBe(false);
    expect(await phaseOf(INVOICE)).toBe('sending');
    expect(await activities.recordRejection({ ...refused, owner: 'o' })).toBe(true);
    expect(await claims.get(INVOICE)).toMatchObject({ phase: 'rejected', rejection: REFUSED });
  });

  it('stay as they are at its end, all of them, if something may have been executed under one', async () => {
    await send(INVOICE);
    await claims.recordAnswer(INVOICE, {});
    await send(PAYMENT);
    expect(await isVoid(ending)).toBe(false);
    expect(await isVoid({ ...ending, done: ['createInvoice'] })).toBe(false);
    expect([await phaseOf(INVOICE), await phaseOf(PAYMENT)]).toEqual(['answered', 'sending']);
  });

  it('are in the way of no end if they were refused; those that are only reserved become void', async () => {
    await send(INVOICE);
    await claims.recordRejection(INVOICE, 'o', REFUSED);
    await claims.reserve(PAYMENT, { owner: 'o', ...unsent });
    expect(await isVoid(ending)).toBe(true);
    expect([await phaseOf(INVOICE), await phaseOf(PAYMENT)]).toEqual(['rejected', 'void']);
    expect(await claims.reserve(PAYMENT, { owner: 'next', ...unsent })).toMatchObject({ kind: 'void' });
  });

  it('are left alone at its end if the flow has done them', async () => {
    await claims.reserve(INVOICE, { owner: 'o', ...unsent });
    const named = { ...ending, claims: [await claimOf(INVOICE)], done: ['createInvoice'] };
    expect(await isVoid(named)).toBe(true);
    expect([await phaseOf(INVOICE), await phaseOf(PAYMENT)]).toEqual(['reserved', 'void']);
  });

  it.each(['invalid_input', 'plaintext_input'])(
    "are not closed at the end of a flow that was refused (%s): the reference may be another flow's",
    async (reason) => {
      expect(await isVoid({ ...ending, reason })).toBe(true);
      expect(await claims.ofFlow(flowId)).toEqual([]);
      expect(await claims.reserve(INVOICE, { owner: 'o', ...unsent })).toMatchObject({ kind: 'reserved' });
    },
  );

  it('are void at the end of a flow that was reset, if the store was never restored', async () => {
    expect(await isVoid({ ...ending, wasReset: true })).toBe(true);
    expect([await phaseOf(INVOICE), await phaseOf(PAYMENT)]).toEqual(['void', 'void']);
  });

  it('are not void at its end if an earlier run may have sent under them, in the oldest epoch of its claims', async () => {
    await send(INVOICE);
    await store.deployment.raiseEpoch(1);
    const named = [await claimOf(INVOICE, 1), await claimOf({ ...INVOICE, reference: 'i1-2' }, 2)];
    const done = ['createInvoice'];
    expect(await isVoid({ ...ending, claims: named, done, wasReset: true })).toBe(false);
    // Nothing is closed by an end that is none.
    expect(await phaseOf(PAYMENT)).toBeUndefined();
  });

  it.each(['invalid_input', 'plaintext_input', 'cancelled'])(
    'are not void after voidAll (%s) of a flow that was reset and has none, if the store was restored: an earlier run may have sent',
    async (reason) => {
      const order = { ...ending, reason, reviewedEventIds: [] };
      await store.deployment.raiseEpoch(1);
      expect(await voidAll(deps, { ...order, wasReset: true })).toMatchObject({ isDone: false });
      expect(await voidAll(deps, order)).toMatchObject({ isDone: true });
    },
  );

  it('are those that it names, if its id is of no kind of ours', async () => {
    const of = { ...ending, flowId: 'lottery/i1' };
    expect(await isVoid(of)).toBe(true);
    const claim = { ...(await claimOf(INVOICE)), flowId: of.flowId };
    const closing = { action: 'mark-failed', order, against: [], reviewedEventIds: [], wasReset: false } as const;
    expect(await activities.closeByOrder({ ...closing, flowId: of.flowId, claims: [claim] })).toEqual([]);
    expect((await claims.ofFlow(of.flowId)).map(({ operation, phase }) => [operation, phase])).toEqual([
      ['createInvoice', 'void'],
    ]);
  });

  it('are pinned to the first epoch at the earliest', async () => {
    const pin = await pinOf(deps);
    expect(await pinFor(deps, { flowId, input: {}, wasReset: true })).toEqual(pin);
    expect(pin.epoch).toBe(1);
  });

  it('are opened for another send by an order, once however often it is written, and not after an answer', async () => {
    await send(INVOICE);
    const again = { ...(await claimOf(INVOICE)), order };
    expect(await activities.orderSendAgain(again)).toBe(true);
    expect(await activities.orderSendAgain(again)).toBe(true);
    expect(await claims.orders(INVOICE)).toHaveLength(1);
    await claims.recordAnswer(INVOICE, {});
    expect(await activities.orderSendAgain(again)).toBe(false);
    expect(await phaseOf(INVOICE)).toBe('answered');
  });

  it('can be opened for another send without a claim, which is a first one if they are of this epoch', async () => {
    expect(await activities.orderSendAgain({ ...(await claimOf(PAYMENT)), order })).toBe(true);
    expect(await phaseOf(PAYMENT)).toBeUndefined();
  });

  it('can be opened for another send, with the order of the person, if they were lost with their store', async () => {
    await store.deployment.raiseEpoch(1);
    const again = { ...(await claimOf(PAYMENT, 1)), order, sentUntilMs: 1 };
    expect(await activities.orderSendAgain(again)).toBe(true);
    expect(await activities.orderSendAgain(again)).toBe(true);
    expect(await phaseOf(PAYMENT)).toBe('reserved');
    expect(await claims.orders(PAYMENT)).toMatchObject([{ action: 'send-again', ...order }]);
    const next = { owner: 'next', ...unsent, epoch: 1 };
    expect(await claims.reserve(PAYMENT, next)).toMatchObject({ kind: 'reserved', sentBefore: 'unknown' });
  });

  it('become void by closeNotExecuted, with the order of the person, if they were lost with their store', async () => {
    await store.deployment.raiseEpoch(1);
    const lost = { ...(await claimOf(PAYMENT, 1)), order, sentUntilMs: 1 };
    expect(await activities.closeNotExecuted(lost)).toBe('void');
    expect(await claims.orders(PAYMENT)).toMatchObject([{ action: 'close-not-executed', ...order }]);
  });

  it('are held back with the order of the person, and holdBack returns false if there is no claim', async () => {
    await send(INVOICE);
    await claims.orderSendAgain(INVOICE, 'next', order);
    expect(await activities.holdBack({ ...(await claimOf(INVOICE)), order })).toBe(true);
    expect(await phaseOf(INVOICE)).toBe('sending');
    expect((await claims.orders(INVOICE)).at(-1)).toMatchObject({ action: 'held-back', ...order });
    expect(await activities.holdBack({ ...(await claimOf(PAYMENT)), order })).toBe(false);
  });

  it('become void by closeNotExecuted, but not those that the service answered', async () => {
    await send(INVOICE);
    expect(await activities.closeNotExecuted({ ...(await claimOf(INVOICE)), order })).toBe('void');
    expect((await claims.orders(INVOICE)).at(-1)).toMatchObject(order);
    await send(PAYMENT);
    await claims.recordAnswer(PAYMENT, {});
    expect(await activities.closeNotExecuted({ ...(await claimOf(PAYMENT)), order })).toBe('answered');
    const never = keyOf('createOnramp');
    expect(await activities.closeNotExecuted({ ...(await claimOf(never)), order })).toBe('void');
    expect(await claims.get(never)).toMatchObject({ phase: 'void', reason: order.note });
  });

  it('are closed by closeByOrder against an event that its flow can never take, not against one that it has yet to take', async () => {
    const closing = {
      action: 'mark-failed',
      order,
      against: ['SUCCESS'],
      reviewedEventIds: [],
      wasReset: false,
      flowId,
    } as const;
    await store.inbox.receive(anEvent({ id: 'e1', flowId, status: 'SUCCESS' }));
    expect(await activities.closeByOrder({ ...closing, claims: [] })).toEqual(['contradicted']);
    await store.inbox.markUnmatched(flowId, ['e1'], 'the flow has ended');
    expect(await activities.closeByOrder({ ...closing, claims: [] })).toEqual([]);
    expect([await phaseOf(INVOICE), await phaseOf(PAYMENT)]).toEqual(['void', 'void']);
    expect(await claims.orders(INVOICE)).toHaveLength(1);
  });

  it('raise one alarm for each late answer, and none when that answer is written again', async () => {
    const alarms: unknown[] = [];
    const log = { ...deps.log, error: (detail: object) => void alarms.push(detail) };
    const { recordAnswer } = createClaimActivities({ ...deps, log });
    for (const key of [INVOICE, PAYMENT]) {
      await send(key);
      await claims.recordDecision(key, 'mark-failed', order);
      const answered = { ...(await claimOf(key)), answer: {} };
      expect(await recordAnswer(answered)).toBe('sending');
      expect(await recordAnswer(answered)).toBe('answered');
    }
    expect(alarms).toMatchObject([
      { operation: 'createInvoice', claim: 'mark-failed' },
      { operation: 'payInvoice', claim: 'mark-failed' },
    ]);
    const { matters } = await store.matters.due(100);
    expect(matters.map(({ id, content }) => [id, content.kind])).toEqual([
      [`late_answer_contradicts/createInvoice/${flowId}`, 'late_answer_contradicts'],
      [`late_answer_contradicts/payInvoice/${flowId}`, 'late_answer_contradicts'],
    ]);
  });
});
