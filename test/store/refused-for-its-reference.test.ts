import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDeps } from '../../activities/deps.js';
import { createSettleActivities } from '../../activities/settle-unknown.js';
import type { ClaimRef } from '../../activities/types.js';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { RejectedError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { submitDeps } from '../harness/submit-deps.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';
import { askedOnce } from './asked-once.js';

const flowId = 'crypto-send/r1';
const REQUEST = { receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 1, referenceId: 'r1' };
const key = { account: 'default', operation: 'sendCrypto', reference: 'r1' };
const refusal = (operation: 'sendCrypto' | 'getCryptoSend', httpStatus: number, message: string) =>
  new RejectedError(operation, {
    httpStatus,
    message,
    fields: [],
    isRateExpired: false,
    isAboutReference: operation === 'sendCrypto',
    saysNoRecord: httpStatus === 404,
  });

describe("a refusal that is about the POST's reference", () => {
  let temporary: TemporaryStore;
  let store: Store;
  let claim: ClaimRef;
  let lookup: () => Promise<unknown>;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    const pin = await pinOf({ store, account: 'default' });
    claim = { operation: 'sendCrypto', reference: 'r1', flowId, fingerprint: 'f', pin };
    lookup = () => Promise.reject(refusal('getCryptoSend', 404, 'Not found'));
  });
  afterEach(() => temporary.remove());

  const deps = () =>
    submitDeps(store, { service: { getCryptoSend: () => lookup() } as unknown as ActivityDeps['service'] });
  const submit = () =>
    submitUnderClaim(deps(), {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request: () => REQUEST,
      send: () => Promise.reject(refusal('sendCrypto', 400, 'Bad reference')),
    });
  const settle = () =>
    new MockActivityEnvironment({ attempt: 9 }).run(() =>
      createSettleActivities(deps()).settleUnknown(askedOnce(claim)),
    );

  it('leaves the outcome unknown and the claim in sending, and is not sent again by itself', async () => {
    expect(await submit()).toMatchObject({ kind: 'unknown', repeat: 'unknown' });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'sending' });
  });

  it('counts as a rejection once the lookup has found nothing for the whole window', async () => {
    await submit();
    expect(await settle()).toMatchObject({
      claim: 'rejected',
      rejection: { httpStatus: 400, message: 'Bad reference' },
    });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'rejected' });
  });

  it('does not count if the lookup shows the POST or cannot tell, or a trusted event came', async () => {
    await submit();
    lookup = () => Promise.reject(refusal('getCryptoSend', 403, 'Forbidden'));
    expect(await settle()).toMatchObject({ claim: 'sending', lookup: 'cannot-tell' });
    lookup = () => Promise.reject(refusal('getCryptoSend', 404, 'Not found'));
    await store.inbox.receive(anEvent({ flowId, reference: 'r1' }));
    expect(await settle()).toMatchObject({ claim: 'sending' });
    lookup = () => Promise.resolve({ referenceId: 'r1', status: 'PENDING' });
    expect(await settle()).toMatchObject({ lookup: 'shown' });
  });

  it('does not count if an untrusted event came, which proves nothing either', async () => {
    await submit();
    await store.inbox.receive(anEvent({ flowId, reference: 'r1', status: 'PENDING', proof: null }));
    expect(await settle()).toMatchObject({ claim: 'sending', lookup: 'absent' });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'sending' });
  });

  it("of a refund does not count while a webhook under its flow's reference is to be matched", async () => {
    claim = { ...claim, reference: 'r1.refund', flowId: 'bridge-transfer/r1' };
    await submit();
    const webhook = { id: 'w', source: 'webhook', reference: 'r1', status: 'REFUNDED', flowId: null } as const;
    await store.inbox.receive(anEvent({ ...webhook, toMatch: true }));
    await expect(settle()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    await store.inbox.match('w', { reference: 'r1', status: null, flowId: null });
    expect(await settle()).toMatchObject({ claim: 'rejected' });
  });

  it('is gone from the claim once another send is ordered', async () => {
    await submit();
    await store.claims.orderSendAgain(key, 'next', { actor: 'ada', note: 'n' });
    expect((await store.claims.get(key))?.rejection).toBeUndefined();
  });
});
