import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  NotSentError,
  RejectedError,
  ServiceUnavailableError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { FlowReport } from '../../src/api/flow.js';
import {
  ended,
  inInbox,
  noted,
  openDecisionBench,
  parked,
  resolve,
  startSend,
  TIME_SCALE,
  READING_MS,
} from './bench.js';
import cryptoSend from '../kinds/crypto-send.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { anEvent } from '../store/temporary-store.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';

describe('a crypto send whose answer was lost', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  const sent: string[] = [];
  /** Of this flow alone: the activity of a flow that another test has terminated may still be under way. */
  const sends = ({ workflowId }: { workflowId: string }): number =>
    sent.filter((reference) => workflowId === `crypto-send/${reference}`).length;
  let lose: 'after' | 'before' | 'not-sent' | 'refused' | 'known' = 'before';
  let lookup: 'sandbox' | (() => Error) = 'sandbox';
  let whileRefused: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      sendCrypto: async (body) => {
        sent.push(body.referenceId);
        if (lose === 'not-sent') throw new NotSentError('sendCrypto', 'refused');
        if (lose === 'after' || lose === 'refused' || lose === 'known') await service.sendCrypto(body);
        if (lose === 'refused') {
          // A proxy sent it twice: the first one is executed, and the answer is that of the second.
          if (whileRefused === undefined) await inInbox(decisions, `crypto-send/${body.referenceId}`, 'SUCCESSFUL');
          else await whileRefused();
          throw refusal(400, 'Insufficient balance')();
        }
        if (lose === 'known') {
          const about = { httpStatus: 400, message: 'invalid reference', fields: [], isRateExpired: false };
          throw new RejectedError('sendCrypto', { ...about, isAboutReference: true });
        }
        throw new UnknownOutcomeError('sendCrypto', 'timeout');
      },
      getCryptoSend: (reference) =>
        lookup === 'sandbox' ? service.getCryptoSend(reference) : Promise.reject(lookup()),
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = (word: string, more?: Record<string, unknown>) => startSend(decisions.bench, word, more);
  const refusal = (httpStatus: number, message?: string) => () =>
    new RejectedError('getCryptoSend', {
      httpStatus,
      fields: [],
      isRateExpired: false,
      isAboutReference: false,
      ...(message ? { message, saysNoRecord: true } : {}),
    });

  test('is not called refused after an outage in the settle window, and a copy that lags after it', async () => {
    lose = 'known';
    lookup = () => new ServiceUnavailableError('getCryptoSend', 'http-status', 503);
    const { handle } = await start('outage', { deadlineSeconds: 360_000 });
    await noted(handle, 'outcome-unknown');
    await decisions.bench.pass(60_000 * TIME_SCALE);
    lookup = refusal(404, 'no such transaction');
    await decisions.bench.pass(60_000 * TIME_SCALE);
    lookup = 'sandbox';
    await noted(handle, 'accepted');
    lose = 'before';
    await handle.terminate();
  });

  test('is not called refused against a trusted webhook of its reference whose flow was not found', async () => {
    lose = 'known';
    lookup = refusal(404, 'no such transaction');
    const { reference, handle } = await start('of-no-flow', { deadlineSeconds: 360_000 });
    await noted(handle, 'outcome-unknown');
    const { inbox } = decisions.store;
    const webhook = { source: 'webhook', flowId: null, reference, status: 'SUCCESSFUL', toMatch: true } as const;
    const { id } = await inbox.receive(anEvent(webhook));
    await inbox.settle([{ id, state: 'quarantined' }]);
    await decisions.bench.pass(120_000 * TIME_SCALE);
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    lookup = 'sandbox';
    await noted(handle, 'accepted');
    lose = 'before';
    await handle.terminate();
  });

  test.each<[string, () => Error]>([
    ['400 "Transaction not found"', refusal(400, 'Transaction not found')],
    ['403', refusal(403)],
    ['a 404 that no service wrote', refusal(404)],
    ['5xx', () => new ServiceUnavailableError('getCryptoSend', 'http-status', 503)],
  ])(
    'fault 49: parks at its window where the lookup answers %s for ever, takes orders and asks on',
    async (_, error) => {
      lose = 'after';
      lookup = error;
      const { reference, handle } = await start('unasked', { deadlineSeconds: 360_000 });
      const view = await parked(handle);
      expect(view.parked).toMatchObject({
        reason: 'could_not_ask',
        actions: ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'],
      });
      lookup = 'sandbox';
      await noted(handle, 'accepted');
      expect(await decisions.executions('sendCrypto', reference)).toBe(1);
      expect(sends(handle)).toBe(1);
      await handle.terminate();
    },
  );

  test('is shown as not found once the lookup has answered so for a whole window, if it could not be asked before', async () => {
    lose = 'before';
    lookup = refusal(403);
    const { handle } = await start('asked-at-last', { deadlineSeconds: 360_000 });
    const { parked: shown } = await parked(handle);
    expect(shown?.reason).toBe('could_not_ask');
    lookup = refusal(404, 'no such transaction');
    await decisions.bench.pass(600_000 * TIME_SCALE);
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'not_found_at_service');
    expect(view.parked).toMatchObject({ actions: ['send-again', 'close-not-executed'] });
    expect(view.parked?.evidence).not.toHaveProperty('asked');
    expect(view.parked?.since).not.toBe(shown?.since);
    // Who orders has seen the other question.
    const order = { action: 'send-again', note: 'as it was shown', actor: 'ada', since: shown?.since };
    await expect(handle.executeUpdate('resolve', { args: [order] })).rejects.toMatchObject({
      cause: { type: 'flow_moved_on' },
    });
    expect(await resolve(handle, 'close-not-executed')).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ outcome: { reason: 'not_executed' } });
  });

  test.each([
    ['send-again', 'not_found_at_service', refusal(404, 'no such transaction')],
    ['close-not-executed', 'not_found_at_service', refusal(404, 'no such transaction')],
    ['mark-refunded', 'could_not_ask', refusal(403)],
  ] as const)(
    'fault 50: %s is refused where the service shows the record by the time that it is carried out',
    async (action, reason, error) => {
      lose = 'after';
      lookup = error;
      const { reference, handle } = await start('shown', { deadlineSeconds: 360_000 });
      expect((await parked(handle)).parked?.reason).toBe(reason);
      lookup = 'sandbox';
      // Refused by the lookup before it, or by the one in progress: the person gets the reason.
      await expect(resolve(handle, action)).rejects.toMatchObject({
        cause: { type: expect.stringMatching(/^(service_has_it|decided_meanwhile|flow_moved_on)$/) },
      });
      await noted(handle, 'accepted');
      expect([sends(handle), await decisions.executions('sendCrypto', reference)]).toEqual([1, 1]);
      await handle.terminate();
    },
  );

  test.each(['send-again', 'close-not-executed'])(
    'fault 50: %s is refused where a trusted event in the inbox proves the send',
    async (action) => {
      lose = 'before';
      lookup = refusal(404, 'no such transaction');
      const { handle } = await start('proven');
      await parked(handle);
      await inInbox(decisions, handle.workflowId, 'SUCCESSFUL');
      await expect(resolve(handle, action)).rejects.toMatchObject({
        cause: { type: 'decided_meanwhile' },
      });
      const { view } = await noted(handle, 'order-refused');
      expect(view.outcome).toBeNull();
      expect(sends(handle)).toBe(1);
      await handle.terminate();
    },
  );

  test('fault 53: send-again that does not reach the service parks again at its deadline, and its claim is unchanged', async () => {
    lose = 'before';
    lookup = refusal(404, 'no such transaction');
    const { handle } = await start('unreachable', { deadlineSeconds: 200 });
    const { deadlineAt: first } = await parked(handle);
    await decisions.bench.pass(200_000 * TIME_SCALE);
    lose = 'not-sent';
    await resolve(handle, 'send-again');
    const { deadlineAt: second } = (await noted(handle, 'send-again-ordered')).view;
    expect(Date.parse(second ?? '')).toBeGreaterThan(Date.parse(first ?? ''));
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('unknown_outcome');
    await untilFlow(handle, (report) => report.view.parked?.reason === 'not_found_at_service');
    const [claim] = await decisions.store.claims.ofFlow(handle.workflowId);
    expect(claim?.phase).toBe('sending');
    expect(await resolve(handle, 'close-not-executed')).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ outcome: { reason: 'not_executed' } });
  });

  test("another send waits for the lookup if the person was shown a lookup's answer, and it cannot be asked now", async () => {
    lose = 'before';
    lookup = refusal(404, 'no such transaction');
    const { reference, handle } = await start('asked-first', { deadlineSeconds: 360_000 });
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    lookup = () => new ServiceUnavailableError('getCryptoSend', 'http-status', 503);
    await resolve(handle, 'send-again');
    await noted(handle, 'send-again-ordered');
    await decisions.bench.pass(60_000);
    expect(sends(handle)).toBe(1);
    lose = 'after';
    lookup = 'sandbox';
    await decisions.bench.pass(60_000);
    await noted(handle, 'accepted');
    expect([sends(handle), await decisions.executions('sendCrypto', reference)]).toEqual([2, 1]);
    await handle.terminate();
  });

  test('another send does not wait for the lookup if the person was shown that it could not be asked', async () => {
    lose = 'before';
    lookup = refusal(403);
    const { reference, handle } = await start('never-asked', { deadlineSeconds: 360_000 });
    expect((await parked(handle)).parked?.reason).toBe('could_not_ask');
    lose = 'after';
    await resolve(handle, 'send-again');
    await until('it to be sent again', () => sends(handle) === 2);
    lookup = 'sandbox';
    await noted(handle, 'accepted');
    expect([sends(handle), await decisions.executions('sendCrypto', reference)]).toEqual([2, 1]);
    await handle.terminate();
  });

  test('fault 53: send-again while the store is unavailable is refused, sends nothing, and can be ordered when it is back', async () => {
    lose = 'before';
    lookup = refusal(404, 'no such transaction');
    const { handle } = await start('store-away', { deadlineSeconds: 200 });
    await parked(handle);
    const away = jest
      .spyOn(decisions.store.inbox, 'list')
      .mockRejectedValue(new StoreUnavailableError('AWAY', 'database'));
    const refused = { cause: { type: 'inbox_not_read' } };
    await Promise.all([
      expect(resolve(handle, 'send-again')).rejects.toMatchObject(refused),
      decisions.bench.pass(READING_MS),
    ]);
    away.mockRestore();
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    expect(sends(handle)).toBe(1);
    await resolve(handle, 'send-again');
    await noted(handle, 'send-again-ordered');
    await handle.terminate();
  });

  test('parks at a deadline inside its settle window, and takes no order yet that the service may overtake', async () => {
    lose = 'after';
    lookup = refusal(404, 'no such transaction');
    const { reference, handle } = await start('inside', { timeScale: 1, deadlineSeconds: 10 });
    await noted(handle, 'outcome-unknown');
    await decisions.bench.pass(10_000);
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    for (const action of ['send-again', 'close-not-executed']) {
      await expect(resolve(handle, action)).rejects.toMatchObject({
        cause: { type: 'post_under_way' },
      });
    }
    lookup = 'sandbox';
    await noted(handle, 'accepted');
    expect([sends(handle), await decisions.executions('sendCrypto', reference)]).toEqual([1, 1]);
    await handle.terminate();
  });

  test('takes no such order either if an event of another payment cut its settle window short, and was dismissed', async () => {
    lose = 'before';
    lookup = refusal(404, 'no such transaction');
    const { handle } = await start('cut-short', { timeScale: 1, deadlineSeconds: 360_000 });
    await noted(handle, 'outcome-unknown');
    await handle.signal('events', [trusted('SUCCESSFUL', { facts: { cryptoAmount: '9' } })]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    await untilFlow(handle, ({ view }) => view.parked === null);
    await decisions.bench.pass(240_000);
    expect((await parked(handle)).parked?.reason).toBe('not_found_at_service');
    expect(sends(handle)).toBe(1);
    await handle.terminate();
  });

  test('that an event of another payment held back is not found missing by a single lookup', async () => {
    lookup = refusal(404, 'no such transaction');
    const reference = newReference('held-back');
    await inInbox(decisions, `crypto-send/${reference}`, 'SUCCESSFUL', { body: { cryptoAmount: 9 } });
    const input = { ...cryptoSend.input(reference), timeScale: TIME_SCALE };
    const handle = await decisions.bench.startFlow('crypto-send', reference, input);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'unknown_outcome');
    expect(view.parked?.actions).not.toContain('send-again');
    expect(sends(handle)).toBe(0);
    await handle.terminate();
  });

  test('is not called failed if its POST is refused, and a trusted event in the inbox reports that it was executed', async () => {
    lose = 'refused';
    // The lookup that is made at the refusal asks a copy that lags.
    lookup = refusal(404, 'no such transaction');
    const { reference, handle } = await start('sent-twice');
    await noted(handle, 'proven');
    lookup = 'sandbox';
    expect((await handle.query<FlowReport>('flow')).view.state).toBe('running');
    // Its callers are not answered with that refusal.
    const claims = () => decisions.store.claims.ofFlow(handle.workflowId);
    await until('its claim to say so', async () => (await claims())[0]?.phase === 'answered');
    await decisions.move(reference, 'SUCCESSFUL', 'sendCrypto');
    expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
    expect(await decisions.executions('sendCrypto', reference)).toBe(1);
  });

  test('is not called failed if its POST is refused while the inbox cannot be read for minutes: it waits, and is followed', async () => {
    lose = 'refused';
    lookup = refusal(404, 'no such transaction');
    const { inbox } = decisions.store;
    const list = inbox.list.bind(inbox);
    let isAway = true;
    let reads = 0;
    whileRefused = async () => {
      jest.spyOn(inbox, 'list').mockImplementation(async (query) => {
        reads += 1;
        if (isAway) throw new StoreUnavailableError('AWAY', 'database');
        return list(query);
      });
    };
    const { handle } = await start('unread', { timeScale: 1, deadlineSeconds: 360_000 });
    await until('the inbox to be read', async () => reads > 0);
    await decisions.bench.pass(180_000);
    expect((await handle.query<FlowReport>('flow')).view.outcome).toBeNull();
    await inInbox(decisions, handle.workflowId, 'PENDING');
    isAway = false;
    const { view } = await noted(handle, 'proven');
    expect(view.outcome).toBeNull();
    jest.restoreAllMocks();
    whileRefused = undefined;
    await handle.terminate();
  });

  test('is not sent at all if a trusted event in the inbox shows it done', async () => {
    lose = 'before';
    lookup = 'sandbox';
    const reference = newReference('early');
    await inInbox(decisions, `crypto-send/${reference}`, 'SUCCESSFUL');
    const input = { ...cryptoSend.input(reference), timeScale: TIME_SCALE };
    const handle = await decisions.bench.startFlow('crypto-send', reference, input);
    await noted(handle, 'proven');
    expect(sends(handle)).toBe(0);
    await handle.terminate();
  });
});
