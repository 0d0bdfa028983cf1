import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { UNREADABLE, type FlowEvent, type FlowReport } from '../../src/protocol/messages.js';
import { ended, inInbox, noted, openDecisionBench, parked, resolve } from './bench.js';
import { ACCOUNT } from '../harness/fixed.js';
import { NotSentError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const FAILED = { refundAnnounced: 'true', failureStage: 'settlement' };
const failed = (facts: Record<string, string> = {}) => trusted('FAILED', { facts: { ...FAILED, ...facts } });
const untrusted = (status: string, facts: Record<string, string> = {}): FlowEvent =>
  trusted(status, { trusted: false, proof: null, source: 'settlement', facts });

describe('a refund that the input orders', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** Whether the service cannot be reached for a refund. */
  let isAway = false;
  /** What happens while a refund is tried in vain, once; then the service can be reached. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  /** Whether answers are lost. */
  let isLost = false;
  const sent: unknown[] = [];
  beforeEach(() => void sent.splice(0));
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      sendCrypto: async (body) => {
        if (meanwhile !== undefined) {
          await meanwhile();
          meanwhile = undefined;
          throw new NotSentError('sendCrypto', 'refused');
        }
        if (isAway) throw new NotSentError('sendCrypto', 'refused');
        sent.push(body.cryptoAmount);
        const answer = await service.sendCrypto(body);
        if (isLost) throw new UnknownOutcomeError('sendCrypto', 'timeout');
        return answer;
      },
      getCryptoSend: async (reference) => {
        if (isLost) throw new UnknownOutcomeError('getCryptoSend', 'timeout');
        return service.getCryptoSend(reference);
      },
    }));
  });
  afterAll(() => decisions.close());

  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start({ ...input, ...more });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, refund: `${reference}.refund`, handle };
  };

  const claimOf = (reference: string) =>
    decisions.store.claims.get({ account: ACCOUNT, operation: 'sendCrypto', reference });

  test('can be sent after a last word that was refused for a FAILED of that moment: the word leaves nothing behind', async () => {
    const { reference, refund, handle } = await tracked('last-word', { deadlineSeconds: 600 });
    await decisions.bench.pass(600);
    expect((await parked(handle)).parked?.reason).toBe('no_settlement');
    const { claims } = decisions.store;
    const close = claims.closeByOrder.bind(claims);
    let id = '';
    const spy = vi.spyOn(claims, 'closeByOrder').mockImplementationOnce(async (...order) => {
      ({ id } = await inInbox(decisions, handle.workflowId, 'FAILED', { body: { provider_reference_id: reference } }));
      return close(...order);
    });
    await expect(resolve(handle, 'mark-completed')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('order it again') },
    });
    spy.mockRestore();
    expect(await claimOf(refund)).toBeUndefined();
    expect(await claims.orders({ account: ACCOUNT, operation: 'createBridgeDeposit', reference })).toEqual([]);
    // By then its word to people is in the store.
    await decisions.bench.pass(60);
    await handle.signal('events', [{ ...failed(), id }]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
    await resolve(handle, 'refund-now');
    await noted(handle, /the refund was accepted/);
    expect(await decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('is void after a person marks the transfer at its deadline; a FAILED that comes while that is done is late', async () => {
    const { refund, handle } = await tracked('late', { deadlineSeconds: 600 });
    await decisions.bench.pass(600);
    expect((await parked(handle)).parked?.reason).toBe('no_settlement');
    const { claims } = decisions.store;
    const close = claims.closeByOrder.bind(claims);
    const late = failed();
    const spy = vi.spyOn(claims, 'closeByOrder').mockImplementationOnce(async (...order) => {
      const closed = await close(...order);
      await handle.signal('events', [late]);
      return closed;
    });
    await resolve(handle, 'mark-completed');
    spy.mockRestore();
    const { view, events } = (await handle.result()) as FlowReport;
    expect(view.outcome).toMatchObject({ state: 'completed' });
    expect(events).not.toHaveProperty(late.id);
    expect((await claimOf(refund))?.phase).toBe('void');
  });

  test.each(['COMPLETED', 'REFUNDED', 'completed'])(
    'is held back by an untrusted %s that comes behind more untrusted events than a flow keeps',
    async (word) => {
      const { refund, handle } = await tracked('flooded');
      const claim = untrusted(word);
      await handle.signal('events', [...Array.from({ length: 30 }, () => untrusted('SETTLING')), claim, failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(/unverified/) } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    },
  );

  test.each(['COMPLETED', 'REFUNDED'])(
    'is held back by an untrusted %s that lies in the inbox, and is sent by the order of a person who has seen it',
    async (status) => {
      const { reference, refund, handle } = await tracked('undelivered');
      const id = randomUUID();
      await decisions.store.inbox.receive({
        id,
        source: 'settlement',
        flowId: handle.workflowId,
        reference,
        status,
        proof: null,
        contentHash: id,
        body: { provider_reference_id: reference, status },
      });
      await handle.signal('events', [failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { claimed: [{ id }] } });
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await resolve(handle, 'refund-now');
      await noted(handle, /the refund was accepted/);
      expect(await decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );

  test.each([
    ['trusted', 'capability'],
    ['untrusted', null],
  ] as const)(
    "is held back by a %s FAILED that lies in the inbox, and says that the service's own refund is done",
    async (_, proof) => {
      const { reference, refund, handle } = await tracked('theirs-undelivered');
      const refunded = { provider_reference_id: reference, refund_details: { refund_status: 'COMPLETED' } };
      await inInbox(decisions, handle.workflowId, 'FAILED', { proof, body: refunded });
      await handle.signal('events', [failed()]);
      expect((await parked(handle)).parked?.reason).toBe('refund_needed');
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    },
  );

  test('is held back by an untrusted FAILED with a refund that is not shown to the flow, behind a flood of others', async () => {
    const { refund, handle } = await tracked('flooded-failures');
    const theirs = { ...failed({ refundStatus: 'COMPLETED' }), trusted: false, proof: null };
    const flood = Array.from({ length: 30 }, () => untrusted('FAILED'));
    for (const event of [...flood, theirs]) {
      await decisions.store.inbox.receive({
        id: event.id,
        source: 'settlement',
        flowId: handle.workflowId,
        reference: refund,
        status: 'FAILED',
        proof: null,
        contentHash: event.id,
        body: { status: 'FAILED' },
      });
    }
    await handle.signal('events', [...flood, theirs, failed()]);
    expect((await parked(handle)).parked?.reason).toBe('refund_needed');
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('that an earlier run of the flow may have sent is a second one if the service says REFUNDED', async () => {
    const { refund, handle } = await tracked('reset');
    const key = { account: ACCOUNT, operation: 'sendCrypto', reference: refund };
    await decisions.store.claims.reserve(key, { owner: 'gone', flowId: handle.workflowId, fingerprint: 'f' });
    await decisions.store.claims.markSending(key, 'gone');
    await handle.signal('events', [failed(), trusted('REFUNDED')]);
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence: { ownRefund: refund } });
    await handle.terminate();
  });

  test('that never left by the deadline is void once a person marks it as refunded', async () => {
    isAway = true;
    const { refund, handle } = await tracked('never-left', { deadlineSeconds: 7_200 });
    await handle.signal('events', [failed()]);
    await decisions.bench.pass(7_200);
    expect((await parked(handle)).parked?.reason).toBe('refund_unknown');
    expect(await claimOf(refund)).toMatchObject({ phase: 'reserved' });
    // The flow keeps checking while it is parked, and parks again: an order at that moment is given again.
    while ((await resolve(handle, 'mark-refunded').catch(() => undefined)) === undefined) await parked(handle);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    isAway = false;
    expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
  });

  test.each(['mark-refunded', 'close-without-refund', 'mark-completed'])(
    'is void after %s where it was needed, so that no reset of the flow sends it',
    async (action) => {
      const { refund, handle } = await tracked('ordered', { refund: { auto: false } });
      await handle.signal('events', [failed()]);
      expect((await parked(handle)).parked?.reason).toBe('refund_needed');
      await resolve(handle, action);
      await ended(handle);
      expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
    },
  );

  test.each([
    ['trusted', true],
    ['untrusted', false],
  ])("is held back where a %s FAILED says that the service's own is done", async (_, isTrusted) => {
    const { refund, handle } = await tracked('theirs-begun');
    const said = failed({ refundStatus: 'COMPLETED', refundCryptoAmount: '7.5' });
    await handle.signal('events', isTrusted ? [said] : [{ ...said, trusted: false, proof: null }, failed()]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: isTrusted
        ? { why: expect.stringMatching(/service's own refund may be done/), theirRefund: 'COMPLETED' }
        : { why: expect.stringMatching(/unverified/) },
    });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'mark-refunded');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('is not sent automatically if less came in than was requested, and a person sends no more than that', async () => {
    const { refund, handle } = await tracked('less');
    await handle.signal('events', [trusted('PAYMENT_CONFIRMED', { facts: { cryptoAmount: '5' } })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    await noted(handle, /parked: refund_needed/);
    const { parked: shown } = await parked(handle);
    expect(shown?.evidence).toMatchObject({
      why: expect.stringMatching(/says 5 USDC, and 7\.5 was to come in/),
      refund: { cryptoAmount: '5' },
    });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'refund-now');
    await noted(handle, /the refund was accepted/);
    expect(sent).toEqual([5]);
    await handle.terminate();
  });

  test.each([
    ['PAYMENT_CONFIRMED', { cryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    ['FAILED', { cryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    // No fact of the input differs from it, and a trusted event of its status is there.
    ['FAILED', { refundCryptoAmount: '5' }, /an unverified event says that 5 USDC came in/],
    ['SETTLING', { cryptoAmount: UNREADABLE }, /an unverified event .* cannot be read/],
    ['SETTLING', { token: 'USDT' }, /an unverified event says that USDT came in/],
  ])('is held back by an untrusted %s with %j about what came in, before or after the others', async (...row) => {
    const [status, facts, why] = row;
    const proof = [trusted('PAYMENT_CONFIRMED'), failed()];
    const claim = untrusted(status, facts);
    const flood = Array.from({ length: 30 }, () => untrusted('DEPOSIT_INITIATED'));
    for (const events of [
      [claim, ...proof],
      [...proof, claim],
      [...flood, claim, ...proof],
    ]) {
      const { refund, handle } = await tracked('less-claimed');
      await handle.signal('events', events);
      await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
      expect(sent).toEqual([]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(why) } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    }
  });

  test('is sent in spite of an untrusted amount by the order of a person who has seen it', async () => {
    const { refund, handle } = await tracked('less-seen');
    await handle.signal('events', [untrusted('SETTLING', { cryptoAmount: '5' }), failed()]);
    await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
    expect((await parked(handle)).parked?.reason).toBe('refund_needed');
    await resolve(handle, 'refund-now');
    await noted(handle, /the refund was accepted/);
    expect(await decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test.each(['SETTLING', 'PAYMENT_CONFIRMED', 'DEPOSIT_CONFIRMED'])(
    'is not sent as ordered if a trusted %s says that less came in, while the service cannot be reached',
    async (status) => {
      const { reference, refund, handle } = await tracked('less-meanwhile');
      const body = {
        provider_reference_id: reference,
        crypto_payment: { chain: 'CELO', token: 'USDC', crypto_amount: '5' },
      };
      meanwhile = () => inInbox(decisions, handle.workflowId, status, { body });
      await handle.signal('events', [failed()]);
      await untilFlow(handle, ({ view }) => view.parked !== null || view.stage === 'done' || sent.length > 0);
      expect(sent).toEqual([]);
      expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
      await resolve(handle, 'accept-event');
      await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed');
      await resolve(handle, 'refund-now');
      await noted(handle, /the refund was accepted/);
      expect(sent).toEqual([5]);
      expect(await decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );

  test('is not sent as ordered if an untrusted SETTLING says that less came in, while the service cannot be reached', async () => {
    const { reference, refund, handle } = await tracked('less-claimed-meanwhile');
    const body = {
      provider_reference_id: reference,
      crypto_payment: { chain: 'CELO', token: 'USDC', crypto_amount: '5' },
    };
    meanwhile = () => inInbox(decisions, handle.workflowId, 'SETTLING', { body, proof: null });
    await handle.signal('events', [failed()]);
    await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
    expect(sent).toEqual([]);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'refund_needed',
      evidence: { why: expect.stringMatching(/an unverified event says that 5 USDC came in/) },
    });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test.each([
    ['trusted', 'capability'],
    ['untrusted', null],
  ] as const)('is sent without a person if a %s event that contradicts nothing comes meanwhile', async (_, proof) => {
    const { reference, refund, handle } = await tracked('harmless-meanwhile');
    const body = { provider_reference_id: reference };
    meanwhile = () => inInbox(decisions, handle.workflowId, 'SETTLING', { body, proof });
    await handle.signal('events', [failed()]);
    await untilFlow(handle, ({ view }) => view.parked !== null || sent.length > 0);
    const { view } = await handle.query<FlowReport>('flow');
    expect(view.timeline.filter(({ detail }) => /parked/.test(detail))).toEqual([]);
    expect(await decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
  });

  test('that is ordered again is not sent after a trusted event has lowered what may be sent back', async () => {
    isLost = true;
    const { handle } = await tracked('less-again');
    await handle.signal('events', [failed()]);
    await noted(handle, /parked: refund_unknown/);
    await handle.signal('events', [failed({ refundCryptoAmount: '5' })]);
    await resolve(handle, 'send-again');
    const isBack = ({ view }: FlowReport) => view.timeline.filter(({ detail }) => /parked: /.test(detail)).length > 1;
    await untilFlow(handle, (report) => isBack(report) || sent.length > 1);
    expect(sent).toEqual([7.5]);
    isLost = false;
    await handle.terminate();
  });

  test('is held back by an amount in a trusted event of an unknown status that a person accepted', async () => {
    const { refund, handle } = await tracked('unknown-word');
    await handle.signal('events', [trusted('CRYPTO_COUNTED', { facts: { cryptoAmount: '5' } })]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await resolve(handle, 'accept-event');
    await handle.signal('events', [failed()]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'refund_needed' || sent.length > 0);
    expect(sent).toEqual([]);
    expect((await parked(handle)).parked?.evidence).toMatchObject({ refund: { cryptoAmount: '5' } });
    expect(await decisions.executions('sendCrypto', refund)).toBe(0);
    await handle.terminate();
  });

  test('whose answer was lost parks as a conflict if the service says REFUNDED: it may have made one of its own', async () => {
    isLost = true;
    const { refund, handle } = await tracked('two-refunds');
    await handle.signal('events', [failed()]);
    await noted(handle, /outcome is unknown/);
    await handle.signal('events', [trusted('REFUNDED')]);
    await noted(handle, /parked: conflict/);
    isLost = false;
    expect((await parked(handle)).parked?.evidence).toMatchObject({
      ownRefund: refund,
      proven: ['FAILED', 'REFUNDED'],
      why: expect.stringMatching(/a refund by us may have been sent/),
    });
    await resolve(handle, 'mark-refunded');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('whose claim was closed as not executed is no end if the inbox cannot be read right after that', async () => {
    isLost = true;
    const { reference, handle } = await tracked('closed-unread');
    await handle.signal('events', [failed()]);
    await noted(handle, /parked: refund_unknown/);
    const { claims, inbox } = decisions.store;
    const close = claims.closeNotExecuted.bind(claims);
    vi.spyOn(claims, 'closeNotExecuted').mockImplementationOnce(async (...order) => {
      const isClosed = await close(...order);
      await inInbox(decisions, handle.workflowId, 'COMPLETED', { body: { provider_reference_id: reference } });
      vi.spyOn(inbox, 'hasToMatch').mockRejectedValue(new StoreUnavailableError('SQLITE_BUSY', 'database'));
      return isClosed;
    });
    await resolve(handle, 'close-not-executed');
    await decisions.bench.pass(60_000);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'refund_failed');
    expect(view.outcome).toBeNull();
    vi.restoreAllMocks();
    isLost = false;
    await expect(resolve(handle, 'close-without-refund')).rejects.toThrow();
    await untilFlow(handle, (report) => report.view.parked?.reason === 'conflict');
    await handle.terminate();
  });

  test('that was accepted parks as a conflict if the service says REFUNDED, whatever the outcome of ours', async () => {
    const { refund, handle } = await tracked('two-refunds');
    await handle.signal('events', [failed()]);
    await noted(handle, /the refund was accepted/);
    await handle.signal('events', [trusted('REFUNDED')]);
    await noted(handle, /parked: conflict/);
    expect((await parked(handle)).parked?.evidence).toMatchObject({ ownRefund: refund });
    await handle.terminate();
  });
});
