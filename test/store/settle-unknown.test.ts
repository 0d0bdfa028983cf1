import { describe, expect, it } from '@jest/globals';
import { pinOf } from '../../activities/claims.js';
import { createSettleActivities, lookUpPost, type PostQuestion } from '../../activities/settle-unknown.js';
import type { ClaimRef } from '../../activities/types.js';
import { LIVE_OPERATIONS, type Profile } from '../../src/protocol/live-operations.js';
import { ServiceUnavailableError } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, missing, refuses } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const unasked = () => Promise.reject(new Error('it was asked'));
const shows = (record: object) => async () => record;
const REFUSED = { httpStatus: 400, message: 'bad reference' };
const WINDOW_MS = 60_000;
const WINDOWS = { windowMs: WINDOW_MS, confirmMs: WINDOW_MS };

describe('a POST whose outcome is unknown', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const post = async (
    answer: () => Promise<unknown>,
    operation = 'sendCrypto',
    claims?: Partial<ClaimStore>,
    live: Profile['live'] = [],
  ) => {
    const reference = newReference('unknown');
    const kind = operation === 'sendCrypto' ? 'crypto-send' : 'invoice-payment';
    const flowId = `${kind}/${reference}`;
    const pin = { ...(await pinOf({ store, account: 'default' })), live };
    const claim: ClaimRef = { operation, reference, flowId, fingerprint: 'f', pin };
    const key = { account: 'default', operation, reference };
    const service = {
      getCryptoSend: answer,
      getInvoice: answer,
      getInvoicePayment: answer,
      getBankWithdrawal: answer,
      getCardDeposit: answer,
    };
    const over = claims === undefined ? store : { ...store, claims: { ...store.claims, ...claims } };
    const deps = depsOver(over, { service });
    const activities = createSettleActivities(deps);
    const question = (more: Partial<PostQuestion>) => ({ claim, expect: {}, fixed: {}, saidToExist: false, ...more });
    return {
      key,
      flowId,
      claim: () => store.claims.get(key),
      lookedUp: (more: Partial<PostQuestion> = {}) => lookUpPost(deps, question(more)),
      lookAt: (more: Partial<PostQuestion> = {}) => asActivity(() => activities.lookAtPost(question(more))),
      settle: (more: object = {}, afterMs = 0, missingAfterMs = 0) =>
        asActivity(
          () => activities.settleUnknown({ ...question({}), ...WINDOWS, timeScale: 0.001, ...more }),
          afterMs,
          missingAfterMs,
        ),
      reserve: () => store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' }),
      send: async () => {
        await store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
        expect(await store.claims.markSending(key, 'o')).toBe('sending');
      },
    };
  };

  describe('in lookUpPost', () => {
    const ours = { cryptoAmount: '7.5', receiverAddress: '0xab00000000000000000000000000000000000001', chain: 'CELO' };
    const theirs = { cryptoAmount: '7.50', cryptoWallet: '0xAB00000000000000000000000000000000000001', chain: 'celo' };
    const found = async (record: object, expected: object = ours) =>
      (await post(shows(record))).lookedUp({ expect: expected as never });

    it('is shown if every fact of the record agrees, however it is spelled', async () => {
      expect(await found(theirs)).toEqual({ lookup: 'shown', answer: theirs });
    });

    it('is shown if the record names none of its facts', async () => {
      expect(await found({ status: 'PENDING' })).toEqual({ lookup: 'shown', answer: { status: 'PENDING' } });
    });

    it.each([
      ['amount', { cryptoAmount: '7.51' }],
      ['receiver', { cryptoWallet: '0xab00000000000000000000000000000000000002' }],
      ['chain', { chain: 'BASE' }],
      ['amount, and a chain that cannot be read', { cryptoAmount: '7.51', chain: {}, token: 7 }],
    ])('is other if one fact of the record differs: %s', async (_, other) => {
      const said = await found({ ...theirs, ...other });
      expect(said).toEqual({
        lookup: 'other',
        ours,
        theirs: expect.objectContaining({ cryptoAmount: expect.anything() }),
      });
    });

    it('is doubtful if a fact of ours cannot be read in the record', async () => {
      const record = { ...theirs, cryptoAmount: undefined };
      expect(await found(record)).toEqual({ lookup: 'cannot-tell', why: expect.any(String) });
      const { cryptoAmount: _ours, ...others } = ours;
      expect(await found(record, others)).toEqual({ lookup: 'shown', answer: record });
    });

    it('is absent only if the service itself answers that it has no record', async () => {
      expect(await (await post(missing)).lookedUp()).toEqual({ lookup: 'absent' });
      expect(await (await post(refuses)).lookedUp()).toEqual({
        lookup: 'cannot-tell',
        why: expect.any(String),
      });
      const down = () => Promise.reject(new ServiceUnavailableError('getCryptoSend', 'timeout'));
      expect(await (await post(down)).lookedUp()).toEqual({
        lookup: 'cannot-tell',
        why: expect.any(String),
      });
    });

    it('has no lookup if the interface has none for its operation', async () => {
      expect(await (await post(unasked, 'createBankWithdrawal')).lookedUp()).toEqual({ lookup: 'no-lookup' });
    });

    it('is not shown by a record that may be older than it, unless the service reported a duplicate of the reference', async () => {
      const older = { status: 'PENDING', invoice: {} };
      const { lookedUp } = await post(shows(older), 'createInvoice');
      expect(await lookedUp({ expect: { amount: '1' } })).toEqual({
        lookup: 'proves-nothing',
        why: expect.any(String),
      });
      expect(await lookedUp({ saidToExist: true })).toEqual({ lookup: 'shown', answer: older });
      const proves = { invoice: { amount: '1', currency: 'KES' } };
      expect(await (await post(shows(proves), 'createInvoice')).lookedUp()).toMatchObject({ lookup: 'shown' });
    });
  });

  describe.each(['createBankWithdrawal', 'createCardDeposit'])('of %s, by a live lookup,', (operation) => {
    const live = (answer: () => Promise<unknown>) => post(answer, operation, undefined, LIVE_OPERATIONS);

    it('has no lookup if the service has no record, which confirms no refusal either', async () => {
      const { lookedUp, settle, send, key, claim } = await live(missing);
      expect(await lookedUp()).toEqual({ lookup: 'no-lookup' });
      await send();
      await store.claims.noteRefusal(key, 'o', REFUSED);
      expect(await settle({}, WINDOW_MS + 1)).toMatchObject({ claim: 'sending', lookup: 'no-lookup' });
      expect(await claim()).toMatchObject({ phase: 'sending' });
    });

    it('is not shown by a record that names neither our reference nor an amount, also after a duplicate', async () => {
      const { lookedUp } = await live(shows({ status: 'SUCCESSFUL', currency: 'ZAR' }));
      for (const saidToExist of [false, true]) {
        expect(await lookedUp({ expect: { amount: '1' }, saidToExist })).toMatchObject({ lookup: 'proves-nothing' });
      }
    });
  });

  describe('in lookAtPost', () => {
    it('is not looked up once its claim has an answer, a refusal, or the reason why it is void', async () => {
      const answered = await post(unasked);
      await answered.send();
      await store.claims.recordAnswer(answered.key, { id: 'S-1' });
      expect(await answered.lookAt()).toEqual({ claim: 'answered', lookup: 'cannot-tell', answer: { id: 'S-1' } });
      expect(await answered.settle()).toMatchObject({ claim: 'answered', answer: { id: 'S-1' } });

      const rejected = await post(unasked);
      await rejected.send();
      await store.claims.recordRejection(rejected.key, 'o', REFUSED);
      expect(await rejected.lookAt()).toEqual({ claim: 'rejected', lookup: 'cannot-tell', rejection: REFUSED });

      const closed = await post(unasked);
      await store.claims.voidUnsent(closed.key, { flowId: closed.flowId, fingerprint: 'f' }, 'cancelled');
      expect(await closed.lookAt()).toEqual({ claim: 'void', lookup: 'cannot-tell', why: 'cancelled' });
    });

    it('is looked up, too, if its claim is only reserved or is not there', async () => {
      const { lookAt, reserve, claim } = await post(missing);
      expect(await lookAt()).toEqual({ claim: 'free', lookup: 'absent' });
      await reserve();
      expect(await lookAt()).toEqual({ claim: 'reserved', lookup: 'absent' });
      expect((await claim())?.phase).toBe('reserved');
    });

    it('is answered by a record with its facts, and not by one with others', async () => {
      const record = { status: 'PENDING', cryptoAmount: '7.5' };
      const { send, lookAt, claim } = await post(shows(record));
      await send();
      expect(await lookAt({ expect: { cryptoAmount: '8' } })).toMatchObject({ claim: 'sending', lookup: 'other' });
      expect((await claim())?.phase).toBe('sending');
      expect(await lookAt()).toEqual({ claim: 'sending', lookup: 'shown', answer: record });
      expect(await claim()).toMatchObject({ phase: 'answered', answer: record });
    });
  });

  describe('in settleUnknown', () => {
    it('is open, and looked up, if its claim is only reserved or is not there, since that may be lost', async () => {
      const { settle, reserve, claim } = await post(missing);
      expect(await settle({}, WINDOW_MS)).toEqual({ claim: 'sending', lookup: 'absent' });
      await reserve();
      expect(await settle({}, WINDOW_MS)).toEqual({ claim: 'sending', lookup: 'absent' });
      expect((await claim())?.phase).toBe('reserved');
    });

    const other = { expect: { cryptoAmount: '8' } };
    const differs = shows({ cryptoAmount: '7.5' });

    it('is other at once if the service has something else, and is looked up again once a person has seen that', async () => {
      const { send, settle } = await post(differs);
      await send();
      expect(await settle(other)).toMatchObject({ lookup: 'other', ours: other.expect });
      const parked = { ...other, parkedWith: 'other', timeScale: 1 };
      await expect(settle(parked)).rejects.toMatchObject({ type: 'not_yet', nextRetryDelay: 15_000 });
      expect(await settle({ ...parked, parkedWith: 'cannot-tell' })).toMatchObject({ lookup: 'other' });
    });

    it('is looked up in its window, and is doubtful at its end if the service refused the lookup', async () => {
      const { send, settle } = await post(refuses);
      await send();
      await expect(settle({ timeScale: 1 }, WINDOW_MS - 1)).rejects.toMatchObject({
        type: 'not_yet',
        nextRetryDelay: 2_000,
      });
      expect(await settle({}, WINDOW_MS)).toEqual({
        claim: 'sending',
        lookup: 'cannot-tell',
        why: expect.any(String),
      });
    });

    /** The service shows it from this question on. */
    const shownAt = async (question: number) => {
      const asked = { times: 0 };
      const answer = () => ((asked.times += 1) < question ? missing() : Promise.resolve({ status: 'PENDING' }));
      const made = await post(answer);
      await made.send();
      return { ...made, asked };
    };

    it('is absent only after three misses in a row, past its window, and its claim stays in sending', async () => {
      const { settle, claim, asked } = await shownAt(4);
      expect(await settle({}, WINDOW_MS)).toEqual({ claim: 'sending', lookup: 'absent' });
      expect(asked.times).toBe(3);
      expect((await claim())?.phase).toBe('sending');
    });

    it('is absent only after these misses have come over ten seconds', async () => {
      const { settle } = await shownAt(4);
      const begunMs = performance.now();
      await settle({ timeScale: 0.02 }, WINDOW_MS);
      expect(performance.now() - begunMs).toBeGreaterThan(10_000 * 0.02 - 5);
    });

    it('is absent after a whole window alone, also if its flow began to ask again when its window was over', async () => {
      const { settle, asked } = await refused();
      const again = { windowMs: 0 };
      await expect(settle(again)).rejects.toMatchObject({ type: 'not_yet' });
      await expect(settle(again, WINDOW_MS - 1)).rejects.toMatchObject({ type: 'not_yet' });
      expect(asked.times).toBe(2);
      expect(await settle(again, WINDOW_MS)).toMatchObject({ claim: 'rejected', lookup: 'absent' });
      expect(await (await refused()).settle(again, WINDOW_MS, 1)).toMatchObject({ lookup: 'cannot-tell' });
    });

    it('is absent while a person is asked, which is news if it could not be asked before, and none if that was shown', async () => {
      const parked = { windowMs: 100 * WINDOW_MS, parkedWith: 'cannot-tell', timeScale: 0.001 };
      const { settle } = await shownAt(99);
      await expect(settle(parked, WINDOW_MS - 1)).rejects.toMatchObject({ type: 'not_yet' });
      expect(await settle(parked, WINDOW_MS)).toEqual({ claim: 'sending', lookup: 'absent' });
      for (const parkedWith of ['absent', 'other', 'proves-nothing']) {
        await expect(settle({ ...parked, parkedWith }, WINDOW_MS)).rejects.toMatchObject({ type: 'not_yet' });
        expect(await settle({ ...parked, parkedWith }, 100 * WINDOW_MS)).toMatchObject({ lookup: 'absent' });
      }
    });

    it.each([2, 3])('is answered by a record that comes at question %d, past its window', async (question) => {
      const { settle } = await shownAt(question);
      expect(await settle({}, WINDOW_MS)).toMatchObject({ lookup: 'shown', answer: { status: 'PENDING' } });
    });

    it('is looked up again after a miss inside its window', async () => {
      const { settle, asked } = await shownAt(4);
      await expect(settle({}, WINDOW_MS - 1)).rejects.toMatchObject({ type: 'not_yet', nonRetryable: false });
      expect(asked.times).toBe(1);
    });

    it('has one more window after an outage in the first one, and is doubtful after an outage in that', async () => {
      const { settle } = await shownAt(9);
      const outageMs = WINDOW_MS + 1;
      await expect(settle({}, 2 * WINDOW_MS - 1, outageMs)).rejects.toMatchObject({ type: 'not_yet' });
      expect(await settle({}, 2 * WINDOW_MS, outageMs)).toMatchObject({ claim: 'sending', lookup: 'cannot-tell' });
    });

    const refused = async (claims?: Partial<ClaimStore>) => {
      const asked = { times: 0 };
      const answer = () => ((asked.times += 1), missing());
      const made = await post(answer, 'sendCrypto', claims);
      await made.send();
      await store.claims.noteRefusal(made.key, 'o', REFUSED);
      return { ...made, asked };
    };
    const open = { claim: 'sending', lookup: 'absent', rejection: REFUSED };

    it('is rejected by the refusal that its claim has noted, if the lookup finds nothing', async () => {
      const { settle, claim } = await refused();
      expect(await settle({}, WINDOW_MS)).toEqual({ claim: 'rejected', lookup: 'absent', rejection: REFUSED });
      expect((await claim())?.phase).toBe('rejected');
    });

    it('stays open against a noted refusal if the service also reported a duplicate of the reference', async () => {
      const { settle, claim } = await refused();
      expect(await settle({ saidToExist: true }, WINDOW_MS)).toEqual(open);
      expect((await claim())?.phase).toBe('sending');
    });

    it('stays open against a noted refusal if the store does not confirm it, as against an event that came by then', async () => {
      const { settle } = await refused({
        confirmRefusal: async () => ({ isDone: false, phase: 'sending', sent: 'unknown' }),
      });
      expect(await settle({}, WINDOW_MS)).toEqual(open);
    });

    it('stays open against a noted refusal if an event of no flow came under its reference', async () => {
      const { key, settle, claim } = await refused();
      await store.inbox.receive(anEvent({ flowId: null, reference: key.reference, status: 'SUCCESS' }));
      expect(await settle({}, WINDOW_MS)).toEqual(open);
      expect((await claim())?.phase).toBe('sending');
    });
  });
});
