import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import { createClaimActivities, pinOf } from '../../activities/claims.js';
import type { ClaimRef } from '../../activities/types.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { NotSentError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { submitDeps } from '../harness/submit-deps.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const flowId = 'crypto-send/r1';
const key = { account: 'default', operation: 'sendCrypto', reference: 'r1' };
const request = () => ({ receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 1, referenceId: 'r1' });
const order = { actor: 'ada', note: 'the provider never had it' };

describeStores('an answer that comes late', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let claim: ClaimRef;
  let deps: ActivityDeps;
  let alarms: unknown[];
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    const pin = await pinOf({ store, account: 'default' });
    claim = { operation: 'sendCrypto', reference: 'r1', flowId, fingerprint: 'f', pin };
    alarms = [];
    const error = (detail: object, message: string) => void alarms.push({ ...detail, message });
    deps = submitDeps(store, { log: { info: () => undefined, warn: () => undefined, error } });
  });
  afterEach(() => temporary.remove());

  /** What people are notified of. */
  const matters = async () => (await store.matters.due(100)).matters.map(({ content }) => content);

  it('raises an alarm, and people are notified, if a person had closed its claim as not executed while it was on its way', async () => {
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
        message: 'ALARM',
      },
    ]);
    expect(await matters()).toEqual([
      { kind: 'late_answer_contradicts', flowId, operation: 'sendCrypto', since: expect.any(String) },
    ]);
  });

  it('raises one if the claim says that the service refused it, or if there is none', async () => {
    const { recordAnswer } = createClaimActivities(deps);
    expect(await recordAnswer({ ...claim, answer: {} })).toBe('absent');
    await store.claims.reserve(key, { owner: 'a', flowId, fingerprint: 'f' });
    await store.claims.markSending(key, 'a');
    await store.claims.recordRejection(key, 'a', { httpStatus: 400, message: 'no' });
    expect(await recordAnswer({ ...claim, answer: {} })).toBe('rejected');
    expect(alarms).toMatchObject([{ claim: 'absent' }, { claim: 'rejected' }]);
  });

  it.each([
    ['one', 'mark-failed', 'r1', 'mark-failed'],
    ['none', 'mark-completed', 'r1', undefined],
    ['one of a refund', 'mark-completed', 'r1.refund', 'mark-completed'],
    ['none of a refund', 'mark-refunded', 'r1.refund', undefined],
  ])('raises %s after a person said %s', async (_, action, reference, said) => {
    const of = { ...key, reference };
    await store.claims.reserve(of, { owner: 'a', flowId, fingerprint: 'f' });
    await store.claims.markSending(of, 'a');
    await store.claims.recordDecision(of, action, order);
    await createClaimActivities(deps).recordAnswer({ ...claim, reference, answer: {} });
    expect(alarms).toMatchObject(said === undefined ? [] : [{ alarm: 'late_answer_contradicts', claim: said }]);
  });

  it('raises none if it was expected, or is known already', async () => {
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

  it('cannot come of a quote that ran out while its POST connected: that is quoted again', async () => {
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
