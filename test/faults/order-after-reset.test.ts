import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { RateLimitedError, RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

const TIME_SCALE = 0.01;
const NO_RECORD = { httpStatus: 404, message: '', fields: [], isRateExpired: false, isAboutReference: false };

let sandbox: Stack;
let bench: Stack;
let posts: string[] = [];
let isTurnedAway = false;
beforeAll(async () => {
  sandbox = await openStack({ time: 'real', worker: false });
  const service = {
    ...sandbox.deps.service,
    // Each answer is lost, and the service shows nothing.
    sendCrypto: async ({ referenceId }: { readonly referenceId: string }) => {
      posts.push(referenceId);
      throw new UnknownOutcomeError('sendCrypto', 'timeout');
    },
    payInvoice: async (body: Parameters<typeof sandbox.service.payInvoice>[0]) => {
      posts.push(body.referenceId);
      if (isTurnedAway) throw new RateLimitedError('payInvoice', 60_000);
      return sandbox.service.payInvoice(body);
    },
    getCryptoSend: async () => {
      throw new RejectedError('getCryptoSend', { ...NO_RECORD, saysNoRecord: true });
    },
  };
  const { store: _, ...others } = sandbox.deps;
  bench = await openStack({ time: 'real', deps: { ...others, service } });
});
afterAll(async () => {
  await bench.close();
  await sandbox.close();
});

const parkedAgain = (handle: WorkflowHandle, after: string) =>
  untilFlow(handle, ({ view }) => view.parked?.reason === 'not_found_at_service' && view.parked.since > after);

/** The effect of the UI's reset to right before the first event that is so: Temporal applies later updates again. */
async function resetToBefore(handle: WorkflowHandle, isSo: (event: HistoryEvent) => boolean): Promise<WorkflowHandle> {
  const { events = [] } = (await handle.fetchHistory()) as { events?: HistoryEvent[] };
  const before = events.slice(0, events.findIndex(isSo));
  const decision = before.findLast((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
  if (decision == null) throw new Error(`${handle.workflowId} has decided nothing before`);
  const { runId } = await bench.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
    reason: 'a test of resets',
    requestId: randomUUID(),
    workflowTaskFinishEventId: decision,
  });
  return bench.client.workflow.getHandle(handle.workflowId, runId ?? '');
}
const takes =
  (updateId: string) =>
  ({ workflowExecutionUpdateAcceptedEventAttributes: taken }: HistoryEvent) =>
    taken?.acceptedRequest?.meta?.updateId === updateId;
const schedules =
  (activity: string) =>
  ({ activityTaskScheduledEventAttributes: scheduled }: HistoryEvent) =>
    scheduled?.activityType?.name === activity;

test('an order to send again, applied again by Temporal after a reset to before it, sends once, and is refused with a reason', async () => {
  posts = [];
  const reference = newReference('order-after-reset');
  const input = { ...cryptoSend.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
  const { workflowId } = await bench.startFlow('crypto-send', reference, input);
  const handle = bench.client.workflow.getHandle(workflowId);
  const first = await parkedAgain(handle, '');
  expect(posts).toEqual([reference]);

  const updateId = `order-${reference}`;
  await handle.executeUpdate('resolve', {
    updateId,
    args: [{ action: 'send-again', note: 'looked into it', actor: 'ada' }],
  });
  const second = await parkedAgain(handle, first.view.parked?.since ?? '');
  expect(posts).toEqual([reference, reference]);

  // The question stands as before the order, and the second POST cannot be under way any more.
  const reset = await resetToBefore(handle, takes(updateId));
  await expect(reset.getUpdateHandle(updateId).result()).rejects.toMatchObject({ cause: { type: 'ordered_before' } });
  await until('the flow to have decided', async () => {
    const { view } = await reset.query<FlowReport>('flow');
    return (
      view.parked?.since === first.view.parked?.since || (view.parked?.since ?? '') > (second.view.parked?.since ?? '')
    );
  });
  expect(posts).toEqual([reference, reference]);

  // Another order is another one.
  await reset.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'looked once more', actor: 'ada' }] });
  await until('it to be sent again', () => posts.length === 3);
  await handle.terminate();
});

describe('a payment that the service turned away, in a flow that is reset past its deadline to before it,', () => {
  /** The run after the reset decides by its claim alone: it has sent nothing. */
  const asked = async () => {
    [posts, isTurnedAway] = [[], true];
    const reference = newReference('turned-away');
    const money = { currency: 'KES', amount: 1000.5 } as const;
    await sandbox.service.createInvoice({ referenceId: reference, ...money, bank });
    await sandbox.control('POST', '/scenarios', { reference, ending: 'never', operation: 'payInvoice' });
    const input = { referenceId: reference, ...money, mobileMoney, timeScale: TIME_SCALE, deadlineSeconds: 300 };
    const { workflowId } = await bench.startFlow('invoice-payment', reference, input);
    const handle = bench.client.workflow.getHandle(workflowId);
    await until('the POST', () => posts.length > 0);
    await untilFlow(handle, ({ view }) => Date.parse(view.deadlineAt ?? '') < Date.now());
    const reset = await resetToBefore(handle, schedules('submitStep'));
    const { view } = await untilFlow(reset, (report) => report.view.state === 'parked');
    const [claim] = await bench.store.claims.ofFlow(workflowId);
    expect([view.parked?.reason, claim?.phase, claim?.turnedAway]).toEqual(['unknown_outcome', 'reserved', 1]);
    return { reference, handle: reset };
  };
  const resolved = (handle: WorkflowHandle, action: string) =>
    handle.executeUpdate('resolve', { args: [{ action, note: 'looked into it', actor: 'ada' }] });

  test('is closed by a person as not executed, and not sent', async () => {
    const { handle } = await asked();
    expect(await resolved(handle, 'close-not-executed')).toEqual({ accepted: true });
    const { view } = await untilFlow(handle, (report) => report.view.outcome !== null);
    const detail = expect.stringContaining('ada');
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'not_executed', detail });
    expect(posts).toHaveLength(1);
  });

  test('is sent once more by the order of a person, and followed', async () => {
    const { reference, handle } = await asked();
    isTurnedAway = false;
    expect(await resolved(handle, 'send-again')).toEqual({ accepted: true });
    await untilFlow(handle, ({ view }) => view.timeline.some(({ code }) => code === 'accepted'));
    expect([posts.length, await sandbox.executions('payInvoice', reference)]).toEqual([2, 1]);
    await handle.terminate();
  });
});
