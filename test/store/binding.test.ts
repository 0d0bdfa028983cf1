import { copyFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import { createClaimActivities, pinOf } from '../../activities/claims.js';
import { voidAll } from '../../activities/void-all.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { ClaimRef, SubmitOutcome } from '../../activities/types.js';
import { createSettleActivities } from '../../activities/settle-unknown.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { submitDeps } from '../harness/submit-deps.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';
import { askedOnce } from './asked-once.js';

const claimOf = async (store: Store, reference: string, operation = 'sendCrypto'): Promise<ClaimRef> => ({
  operation,
  reference,
  flowId: `crypto-send/${reference}`,
  fingerprint: 'f',
  pin: await pinOf({ store, account: 'default' }),
});
const keyOf = ({ operation, reference }: ClaimRef) => ({ account: 'default', operation, reference });

describeStores('the deployment of a store', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  it("has one id, the same for each process that opens it, and different from any other store's", async () => {
    const { id, epoch } = await store.deployment.read();
    expect(await (await temporary.open()).deployment.read()).toMatchObject({ id, epoch });
    const other = await makeTemporaryStore(kind);
    expect((await (await other.open()).deployment.read()).id).not.toBe(id);
    await other.remove();
  });

  it('is bound to a namespace and an account once: the first one wins', async () => {
    expect((await store.deployment.read()).boundTo).toBeUndefined();
    const first = { namespace: 'payments', account: 'kenya' };
    await Promise.all([1, 2, 3].map(() => store.deployment.bind(first)));
    const second = await (await temporary.open()).deployment.bind({ namespace: 'payments', account: 'ghana' });
    expect(second.boundTo).toEqual(first);
  });

  it('begins a new epoch after a restore, in which nothing that was only reserved is free', async () => {
    const claim = await claimOf(store, 'r1');
    await store.claims.reserve(keyOf(claim), { owner: 'a', flowId: claim.flowId, fingerprint: 'f' });
    expect(await store.deployment.raiseEpoch(4)).toBe(5);
    expect(await store.deployment.raiseEpoch(4)).toBe(6);
    expect(await store.claims.get(keyOf(claim))).toMatchObject({ phase: 'sending' });
  });
});

describe('a worker and the deployment that it belongs to', () => {
  let temporary: TemporaryStore;
  let other: TemporaryStore;
  let store: Store;
  let posts: number;
  let warnings: object[];
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    other = await makeTemporaryStore('libsql');
    store = await temporary.open();
    posts = 0;
    warnings = [];
  });
  afterEach(async () => {
    await temporary.remove();
    await other.remove();
  });
  const depsOf = (of: Store, more: Partial<ActivityDeps> = {}) =>
    submitDeps(of, {
      log: { info: () => undefined, error: () => undefined, warn: (detail) => void warnings.push(detail) },
      ...more,
    });
  const submit = (deps: ActivityDeps, claim: ClaimRef) =>
    submitUnderClaim(deps, {
      claim,
      guard: { flowId: claim.flowId, statuses: [] },
      request: () => ({
        receiverAddress: '0x1',
        chain: 'CELO',
        token: 'CUSD',
        cryptoAmount: 1,
        referenceId: claim.reference,
      }),
      send: () => Promise.resolve({ posts: (posts += 1) }),
    });
  const order = { actor: 'ada', note: 'the provider never had it' };
  const stopping = { done: [], reason: 'cancelled', reviewedEventIds: [], wasReset: false } as const;
  const closing = { action: 'mark-refunded', order, against: [], reviewedEventIds: [], wasReset: false } as const;

  it.each(['another store', 'another account', 'an older copy of the store'])(
    'with %s than its flow does nothing with the claims of the flow: each activity fails as other_deployment, to be tried by another worker',
    async (what) => {
      const claim = await claimOf(store, 'r1');
      const deps =
        what === 'another store'
          ? depsOf(await other.open())
          : depsOf(store, what === 'another account' ? { account: 'other' } : {});
      const asked = what.startsWith('an older') ? { ...claim, pin: { ...claim.pin, epoch: 2 } } : claim;
      const activities = createClaimActivities(deps);
      const refusal = { type: 'other_deployment', nonRetryable: false };
      for (const act of [
        () => submit(deps, asked),
        () => voidAll(deps, { ...stopping, flowId: asked.flowId, claims: [asked] }),
        () => activities.recordAnswer({ ...asked, answer: {} }),
        () => activities.recordRejection({ ...asked, owner: 'a', rejection: { httpStatus: 400, message: 'no' } }),
        () => activities.orderSendAgain({ ...asked, order }),
        () => activities.holdBack({ ...asked, order }),
        () => activities.closeByOrder({ ...closing, flowId: asked.flowId, claims: [asked] }),
        () => inActivity(() => createActivities(deps).readInbox({ flowId: asked.flowId, claim: asked })),
        () => activities.closeNotExecuted({ ...asked, order }),
        () => inActivity(() => createSettleActivities(deps).settleUnknown(askedOnce(asked))),
      ]) {
        await expect(act()).rejects.toMatchObject(refusal);
      }
      expect(posts).toBe(0);
      expect(warnings).toHaveLength(10);
      expect(await submit(depsOf(store), claim)).toMatchObject({ kind: 'accepted' });
    },
  );

  it('reads the inbox of a flow, and takes a refusal for final, only once each proven webhook under its reference is matched', async () => {
    const claim = await claimOf(store, 'r1');
    const { flowId } = claim;
    const [reference, of] = ['r1', { flowId: null, reference: 'r1', status: 'SUCCESS' }];
    expect(flowId.endsWith(`/${reference}`)).toBe(true);
    const read = () => inActivity(() => createActivities(depsOf(store)).readInbox({ flowId, claim }));
    const event = { source: 'webhook', ...of, proof: 'signature', body: { event: 'x', data: of } } as const;
    await store.inbox.receive({ ...event, id: 'w0', contentHash: 'w0', proof: null, toMatch: true });
    expect(await read()).toEqual([]);
    await store.inbox.receive({ ...event, id: 'w1', contentHash: 'w1', toMatch: true });
    await expect(read()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    const key = { account: 'default', operation: claim.operation, reference };
    await store.claims.reserve(key, { owner: 'o', flowId, fingerprint: claim.fingerprint });
    await store.claims.markSending(key, 'o');
    await store.claims.noteRefusal(key, 'o', { httpStatus: 400, message: 'its reference is in use' });
    const settle = () => {
      const question = askedOnce(claim);
      const deps = depsOf(store, { service: { getCryptoSend: () => Promise.reject(notFound()) } as never });
      return inActivity(() => createSettleActivities(deps).settleUnknown(question));
    };
    await expect(settle()).rejects.toMatchObject({ type: 'not_sent', nonRetryable: false });
    await store.inbox.match('w1', { ...of, flowId });
    expect((await read()).map(({ id }) => id)).toEqual(['w1']);
    expect(await settle()).toMatchObject({ claim: 'sending' });
  });

  it('takes an absent claim for unknown, neither sent nor void until an order, if its flow is of an earlier epoch than the store', async () => {
    const claim = await claimOf(store, 'r1');
    const unsent = await claimOf(store, 'r2');
    await store.deployment.raiseEpoch(1);
    const deps = depsOf(store);
    expect(await submit(deps, claim)).toMatchObject({ kind: 'unknown' });
    expect(await submit(deps, claim)).toMatchObject({ kind: 'unknown' });
    expect(await voidAll(deps, { ...stopping, flowId: unsent.flowId, claims: [unsent] })).toMatchObject({
      isDone: false,
    });
    expect(posts).toBe(0);

    expect(await createClaimActivities(deps).orderSendAgain({ ...claim, order })).toBe(true);
    expect(await submit(deps, claim)).toMatchObject({ kind: 'accepted' });
    expect(await createClaimActivities(deps).closeNotExecuted({ ...unsent, order })).toBe('void');
    const third = { ...(await claimOf(store, 'r3')), pin: claim.pin };
    expect(await createClaimActivities(deps).closeNotExecuted({ ...third, order })).toBe('void');
    expect(posts).toBe(1);
    expect(await submit(deps, await claimOf(store, 'r4'))).toMatchObject({ kind: 'accepted' });
  });
});

/** Half of the operations have a status lookup, the others have none: those park. */
const FLOWS = 90;

describe('claims that were restored to an earlier copy under load (fault 55)', () => {
  it('let nothing be sent a second time, and leave to a person only what no lookup shows', async () => {
    const temporary = await makeTemporaryStore('libsql', { inThreads: true });
    try {
      const before = await temporary.open();
      const executed = new Map<string, number>();
      const deps = (store: Store) =>
        submitDeps(store, {
          service: {
            getCryptoSend: (reference: string) =>
              executed.has(reference)
                ? Promise.resolve({ referenceId: reference, status: 'PENDING' })
                : Promise.reject(notFound()),
          } as unknown as ActivityDeps['service'],
        });
      const submit = (store: Store, claim: ClaimRef, n: number): Promise<SubmitOutcome> =>
        submitUnderClaim(deps(store), {
          claim,
          guard: { flowId: claim.flowId, statuses: [] },
          request: () => (claim.operation === 'sendCrypto' ? sendRequest(claim) : withdrawalRequest(claim)),
          send: () => {
            executed.set(claim.reference, (executed.get(claim.reference) ?? 0) + 1);
            if (n % 5 === 0) return Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout'));
            return Promise.resolve({ referenceId: claim.reference });
          },
        });
      const operations = ['sendCrypto', 'createBankWithdrawal'];
      const claims = await Promise.all(
        Array.from({ length: FLOWS }, (_, n) => claimOf(before, `r${n}`, operations[n % 2])),
      );
      const isIn = (n: number, part: number) => Math.floor((n * 3) / FLOWS) === part;

      // The first third before the backup, the second while it is taken and after it, the last one not at all.
      await Promise.all(claims.filter((_, n) => isIn(n, 0)).map((claim, n) => submit(before, claim, n)));
      const backup = await takeBackup(temporary);
      await Promise.all(claims.filter((_, n) => isIn(n, 1)).map((claim, n) => submit(before, claim, n)));
      await before.close();
      await backup.restore();
      const after = await temporary.open();
      await after.deployment.raiseEpoch(1);

      // Every activity is tried again, as after a crash of the worker, or a reset in the UI.
      const parked: string[] = [];
      await Promise.all(
        claims.map(async (claim, n) => {
          const outcome = await submit(after, claim, n);
          if (outcome.kind === 'accepted') return;
          const settled = await inActivity(() => createSettleActivities(deps(after)).settleUnknown(askedOnce(claim)));
          if (settled.answer === undefined) parked.push(claim.reference);
        }),
      );
      expect([...executed.values()].filter((count) => count > 1)).toEqual([]);
      const hasLookup = (n: number) => n % 2 === 0;
      const expected = claims.filter((_, n) =>
        isIn(n, 0) ? !hasLookup(n) && n % 5 === 0 : isIn(n, 1) ? !hasLookup(n) : true,
      );
      expect(parked.sort()).toEqual(expected.map(({ reference }) => reference).sort());

      const next = await claimOf(after, 'next');
      expect(await submit(after, next, 1)).toMatchObject({ kind: 'accepted' });
      expect(executed.get('next')).toBe(1);
    } finally {
      await temporary.remove();
    }
  });
});

/** Its logger stays silent: refusals are intended here. */
const inActivity = <T>(act: () => Promise<T>): Promise<T> =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(act) as Promise<T>;

const notFound = () =>
  new RejectedError('getCryptoSend', {
    httpStatus: 404,
    message: 'Not found',
    fields: [],
    isRateExpired: false,
    isAboutReference: false,
    saysNoRecord: true,
  });

const sendRequest = ({ reference }: ClaimRef) => ({
  receiverAddress: '0x1',
  chain: 'CELO',
  token: 'CUSD',
  cryptoAmount: 1,
  referenceId: reference,
});
const withdrawalRequest = ({ reference }: ClaimRef) => ({
  bankDetails: { accountNumber: '1', bankCode: '2' },
  currency: 'ZAR',
  amount: 1,
  referenceId: reference,
  callbackUrl: 'https://caller.example',
});

/** As SQLite takes it: nothing writes at this moment, so that the file and its log are one state. */
async function takeBackup({ place }: TemporaryStore): Promise<{ restore(): Promise<void> }> {
  for (const suffix of ['', '-wal']) await copyFile(place + suffix, `${place}.backup${suffix}`);
  return {
    async restore() {
      await rm(`${place}-shm`, { force: true });
      for (const suffix of ['', '-wal']) await copyFile(`${place}.backup${suffix}`, place + suffix);
    },
  };
}
