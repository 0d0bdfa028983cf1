import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import type { ClaimRef } from '../../activities/types.js';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { toWireNumber } from '../../src/money.js';
import type { Store } from '../../src/store/store.js';
import { submitDeps } from '../harness/submit-deps.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const key = { account: 'default', operation: 'sendCrypto', reference: 'r1' };

describe('a request that cannot be put on the wire', () => {
  let temporary: TemporaryStore;
  let store: Store;
  let claim: ClaimRef;
  let deps: ActivityDeps;
  let sent: number;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
    const pin = await pinOf({ store, account: 'default' });
    claim = { operation: 'sendCrypto', reference: 'r1', flowId: 'crypto-send/r1', fingerprint: 'f', pin };
    deps = submitDeps(store);
    sent = 0;
  });
  afterEach(() => temporary.remove());

  const submit = (cryptoAmount: () => number) =>
    submitUnderClaim(deps, {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request: () => ({
        receiverAddress: '0x1',
        chain: 'CELO',
        token: 'CUSD',
        cryptoAmount: cryptoAmount(),
        referenceId: 'r1',
      }),
      send: () => {
        sent += 1;
        return Promise.reject(new Error('the outcome is unknown'));
      },
    });

  it.each<[string, () => number]>([
    ['an amount of 19 digits', () => toWireNumber('7.123456789012345678')],
    ['one that the contract refuses', () => -1],
  ])('ends its flow as invalid_input before its claim is reserved: %s', async (_, amount) => {
    await expect(submit(amount)).rejects.toMatchObject({ type: 'invalid_input', nonRetryable: true });
    expect(await store.claims.get(key)).toBeUndefined();
    expect(sent).toBe(0);
  });

  it('ends its flow as invalid_input after an attempt that only reserved its claim, which stays reserved', async () => {
    await store.claims.reserve(key, { owner: 'earlier', flowId: claim.flowId, fingerprint: 'f' });
    await expect(submit(() => -1)).rejects.toMatchObject({ type: 'invalid_input', nonRetryable: true });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'reserved' });
  });

  it('is unknown for a flow of an earlier epoch than the store, whose claim may be lost', async () => {
    await store.deployment.raiseEpoch(1);
    expect(await submit(() => -1)).toMatchObject({ kind: 'unknown' });
    expect(sent).toBe(0);
  });

  it('leaves an earlier send of the same claim unknown', async () => {
    await submit(() => 1);
    expect(await submit(() => -1)).toMatchObject({ kind: 'unknown' });
    await store.claims.orderSendAgain(key, 'next', { actor: 'ada', note: 'n' });
    expect(await submit(() => -1)).toMatchObject({ kind: 'unknown', repeat: 'unknown', refused: expect.any(String) });
    expect(await store.claims.get(key)).toMatchObject({ phase: 'sending' });
    expect(sent).toBe(1);
  });
});
