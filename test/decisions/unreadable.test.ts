import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import bankCheckout from '../kinds/bank-checkout.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { failed, useRefundBench } from './refund-bench.js';
import { ended, inInbox, noted, openDecisionBench, parked, resolve, TIME_SCALE, READING_MS } from './bench.js';

const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 360_000 };

type Decisions = Awaited<ReturnType<typeof openDecisionBench>>;

/** An event that no worker can open. @param state `quarantined`: the gateway has given up opening it */
async function unreadableIn(
  { store }: Decisions,
  flowId: string,
  status: string,
  state: 'waiting' | 'quarantined',
  proof: 'capability' | null = 'capability',
) {
  const event = await inInbox({ store }, flowId, status, { proof });
  const { inbox } = store;
  if (state === 'quarantined') await inbox.settle([{ id: event.id, state, detail: 'it was not opened' }]);
  const list = inbox.list.bind(inbox);
  jest
    .spyOn(inbox, 'list')
    .mockImplementation(async (query) =>
      (await list(query)).map((row) =>
        row.id === event.id ? { ...row, body: undefined, unreadable: 'No payload key has the id new' } : row,
      ),
    );
  return event;
}

describe('a trusted event in the inbox that cannot be decrypted', () => {
  let d: Decisions;
  beforeAll(async () => {
    d = await openDecisionBench((service) => ({
      createBankWithdrawal: async (body) => {
        await service.createBankWithdrawal(body);
        throw new UnknownOutcomeError('createBankWithdrawal', 'timeout');
      },
    }));
  });
  afterEach(() => d.bench.terminateAll());
  afterAll(() => d.close());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const unreadableRow = (flowId: string, status: string, state: 'waiting' | 'quarantined') =>
    unreadableIn(d, flowId, status, state);

  /** Its payload key has come. */
  const openAll = () => jest.restoreAllMocks();

  const asked = (handle: Parameters<typeof parked>[0], reason: string) =>
    untilFlow(handle, ({ view }) => view.outcome !== null || view.parked?.reason === reason);

  const lostWithdrawal = async () => {
    const reference = newReference('lost');
    const input = { ...bankWithdrawal.input(reference), ...LONG };
    const handle = await d.bench.startFlow('bank-withdrawal', reference, input);
    await parked(handle);
    return handle;
  };

  const failingCheckout = async (state: 'waiting' | 'quarantined') => {
    const reference = newReference('failing');
    const input = { ...bankCheckout.input(reference), ...LONG };
    const handle = await d.bench.startFlow('bank-checkout', reference, input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    const event = await unreadableRow(handle.workflowId, 'SUCCESSFUL', state);
    await handle.signal('events', [trusted('FAILED')]);
    return { handle, event };
  };

  test('refuses "close-not-executed" while a gateway may still deliver it, and follows it when it can be read', async () => {
    const handle = await lostWithdrawal();
    await unreadableRow(handle.workflowId, 'SUCCESSFUL', 'waiting');
    const refused = { cause: { type: 'inbox_not_read' } };
    await Promise.all([
      expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject(refused),
      d.bench.pass(READING_MS),
    ]);
    await parked(handle);
    openAll();
    await expect(resolve(handle, 'close-not-executed')).rejects.toThrow();
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('refuses "close-not-executed" against a quarantined one until a person has dismissed it', async () => {
    const handle = await lostWithdrawal();
    const { id } = await unreadableRow(handle.workflowId, 'SUCCESSFUL', 'quarantined');
    await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({
      cause: { type: 'flow_moved_on' },
    });
    const { view } = await asked(handle, 'event_mismatch');
    expect(view.parked).toMatchObject({
      reason: 'event_mismatch',
      evidence: {
        event: { id: `${id}.unopened`, status: 'SUCCESSFUL', proof: 'capability' },
        differs: ['body'],
        theirs: { body: 'unreadable' },
      },
    });
    await resolve(handle, 'dismiss-event');
    await asked(handle, 'unknown_outcome');
    await resolve(handle, 'close-not-executed');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'not_executed' } });
  });

  test.each([{ code: 'SUCCESSFUL' }, 7, 'x'.repeat(65)])(
    'nor does a checkout fail by itself against one that gives %j in place of a status: a person sees that',
    async (status) => {
      const reference = newReference('odd-status');
      const handle = await d.bench.startFlow('bank-checkout', reference, { ...bankCheckout.input(reference), ...LONG });
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      await inInbox(d, handle.workflowId, 'FAILED', { body: { status } });
      await handle.signal('events', [trusted('FAILED')]);
      const { view } = await asked(handle, 'event_mismatch');
      expect(view.parked).toMatchObject({ reason: 'event_mismatch', evidence: { differs: ['body'] } });
      await resolve(handle, 'dismiss-event');
      expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
    },
  );

  test('shows its amount, too, if that is another one', async () => {
    const reference = newReference('odd-amount');
    const handle = await d.bench.startFlow('bank-checkout', reference, { ...bankCheckout.input(reference), ...LONG });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('SUCCESSFUL', { facts: { body: 'unreadable', amount: '9' } })]);
    const { view } = await asked(handle, 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ differs: ['body', 'amount'], theirs: { amount: '9' } });
    await handle.terminate();
  });

  test('nor does a checkout fail by itself against an untrusted one that cannot be read: a person decides', async () => {
    const reference = newReference('odd-claim');
    const handle = await d.bench.startFlow('bank-checkout', reference, { ...bankCheckout.input(reference), ...LONG });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await inInbox(d, handle.workflowId, 'PENDING', { proof: null, body: { status: { code: 'SUCCESSFUL' } } });
    await handle.signal('events', [trusted('FAILED')]);
    const { view } = await asked(handle, 'conflict');
    expect(view.parked).toMatchObject({ evidence: { code: 'unverified_event_against_it' } });
    await resolve(handle, 'mark-failed');
    await ended(handle);
  });

  test('does not let a checkout fail by itself while a gateway may still deliver it', async () => {
    const { handle } = await failingCheckout('waiting');
    await d.bench.pass(2 * READING_MS);
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null || report.view.parked !== null);
    expect(view).toMatchObject({ outcome: null, parked: { reason: 'step_failed' } });
    openAll();
    await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
    await resolve(handle, 'mark-completed');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('does not let a checkout fail by itself against a quarantined one: dismissed by a person, it fails', async () => {
    const { handle } = await failingCheckout('quarantined');
    expect((await asked(handle, 'event_mismatch')).view.outcome).toBeNull();
    await resolve(handle, 'dismiss-event');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });

  test('completes a checkout when a person trusts the quarantined one', async () => {
    const reference = newReference('accepted');
    const input = { ...bankCheckout.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 600 };
    const handle = await d.bench.startFlow('bank-checkout', reference, input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await unreadableRow(handle.workflowId, 'SUCCESSFUL', 'quarantined');
    // It is read at the deadline.
    await d.bench.pass(6_000);
    expect((await asked(handle, 'event_mismatch')).view.outcome).toBeNull();
    await resolve(handle, 'accept-event');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('goes on by a quarantined one that is replayed once it can be read', async () => {
    const { handle, event } = await failingCheckout('quarantined');
    await asked(handle, 'event_mismatch');
    await handle.signal('events', [event]);
    const { view } = await asked(handle, 'conflict');
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { words: ['FAILED', 'SUCCESSFUL'] } });
    await handle.terminate();
  });

  test('does not ask about one that the flow has taken: only this worker lacks its key', async () => {
    const { handle, event } = await failingCheckout('quarantined');
    await handle.signal('events', [{ ...event, status: 'PENDING' }]);
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });

  test('does not let a transfer fail as one that owes no refund against a quarantined one', async () => {
    const handle = await d.bench.start(transferInput(newReference('transfer'), LONG));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await unreadableRow(handle.workflowId, 'FAILED', 'quarantined');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    expect((await asked(handle, 'event_mismatch')).view.outcome).toBeNull();
    await resolve(handle, 'dismiss-event');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });
});

describe('a refund that the input orders, against a quarantined event', () => {
  const refunds = useRefundBench();

  test('is sent only after a person has dismissed that event', async () => {
    const { refund, handle } = await refunds.tracked('quarantined');
    await unreadableIn(refunds.decisions, handle.workflowId, 'REFUNDED', 'quarantined');
    await handle.signal('events', [failed()]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('event_mismatch');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'dismiss-event');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
    jest.restoreAllMocks();
  });

  test('is not sent by the input alone against an untrusted FAILED that cannot be read: it may say "refunded"', async () => {
    const { refund, handle } = await refunds.tracked('untrusted');
    await unreadableIn(refunds.decisions, handle.workflowId, 'FAILED', 'quarantined', null);
    await handle.signal('events', [failed()]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    const why = 'an unverified event cannot be read in full';
    expect(view.parked).toMatchObject({ reason: 'refund_needed', evidence: { why } });
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(0);
    await resolve(handle, 'refund-now');
    await noted(handle, 'refund-accepted');
    expect(await refunds.decisions.executions('sendCrypto', refund)).toBe(1);
    await handle.terminate();
    jest.restoreAllMocks();
  });
});
