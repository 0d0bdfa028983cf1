import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import { createClaimActivities, pinOf } from '../../activities/claims.js';
import type { ClaimRef } from '../../activities/types.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { NotSentError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { submitDeps } from '../harness/submit-deps.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'crypto-send/r1';
const key = { account: 'default', operation: 'sendCrypto', reference: 'r1' };
const request = () => ({ receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 1, referenceId: 'r1' });
const order = { actor: 'ada', note: 'the provider never had it' };

describe('an answer that comes late to a POST', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let claim: ClaimRef;
  let deps: ActivityDeps;
  let alarms: unknown[];
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    const pin = await pinOf({ store, account: 'default' });
    claim = { operation: 'sendCrypto', reference: 'r1', flowId, fingerprint: 'f', pin };
    alarms = [];
    const error = (detail: object) => void alarms.push(detail);
    deps = submitDeps(store, { log: { info: () => undefined, warn: () => undefined, error } });
  });
  afterEach(() => temporary.remove());

  /** What people are notified of. */
  const matters = async () => (await store.matters.due(100)).matters.map(({ content }) => content);

  it('raises the alarm late_answer_contradicts, and opens a matter, if a person had closed its claim as not executed', async () => {
    const outcome = await submitUnderClaim(deps, {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request,
      send: async () => {
        expect(await createClaimActivities(deps).closeNotExecuted({ ...claim, order })).toBe('void');
        return { referenceId: 'r1' };
      },
    });
    expect(outcome).toMatchObject({ kind: 'accepted', recorded: true });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'answered' });
    expect(alarms).toEqual([
      {
        alarm: 'late_answer_contradicts',
        flowId,
        operation: 'sendCrypto',
        reference: 'r1',
        claim: 'void',
      },
    ]);
    expect(await matters()).toEqual([
      { kind: 'late_answer_contradicts', flowId, operation: 'sendCrypto', since: expect.any(String) },
    ]);
  });

  it('raises an alarm if its claim is rejected, or if there is no claim', async () => {
    const { recordAnswer } = createClaimActivities(deps);
    expect(await recordAnswer({ ...claim, answer: {} })).toBe('absent');
    await store.claims.reserve(key, { owner: 'a', flowId, fingerprint: 'f' });
    await store.claims.markSending(key, 'a');
    await store.claims.recordRejection(key, 'a', { httpStatus: 400, message: 'no' });
    expect(await recordAnswer({ ...claim, answer: {} })).toBe('rejected');
    expect(alarms).toMatchObject([{ claim: 'absent' }, { claim: 'rejected' }]);
  });

  it.each([
    ['an alarm', 'mark-failed', 'r1', 'mark-failed'],
    ['no alarm', 'mark-completed', 'r1', undefined],
    ['an alarm about a refund', 'mark-completed', 'r1.refund', 'mark-completed'],
    ['no alarm about a refund', 'mark-refunded', 'r1.refund', undefined],
  ])('raises %s after the order %s', async (_, action, reference, said) => {
    const of = { ...key, reference };
    await store.claims.reserve(of, { owner: 'a', flowId, fingerprint: 'f' });
    await store.claims.markSending(of, 'a');
    await store.claims.recordDecision(of, action, order);
    await createClaimActivities(deps).recordAnswer({ ...claim, reference, answer: {} });
    expect(alarms).toMatchObject(said === undefined ? [] : [{ alarm: 'late_answer_contradicts', claim: said }]);
  });

  it('raises no alarm if it was waited for, or is known already', async () => {
    const lost = new UnknownOutcomeError('sendCrypto', 'timeout');
    await submitUnderClaim(deps, {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request,
      send: () => Promise.reject(lost),
    });
    const { recordAnswer } = createClaimActivities(deps);
    await recordAnswer({ ...claim, answer: {} });
    await recordAnswer({ ...claim, answer: {} });
    expect(alarms).toEqual([]);
    expect(await matters()).toEqual([]);
  });

  it('cannot come if the quote expired while the POST connected: the outcome is quote-expired, and the claim reserved', async () => {
    let usedMs = 0;
    const outcome = await submitUnderClaim(deps, {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request,
      stillValid: () => usedMs < 55_000,
      send: (_, { stillValid }) => {
        usedMs = 60_000;
        expect(stillValid?.()).toBe(false);
        return Promise.reject(new NotSentError('sendCrypto', 'expired'));
      },
    });
    expect(outcome).toEqual({ kind: 'quote-expired' });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'reserved' });
  });
});
