import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/protocol/messages.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';

const TIME_SCALE = 0.01;
const NO_RECORD = { httpStatus: 404, message: '', fields: [], isRateExpired: false, isAboutReference: false };

let sandbox: Stack;
let bench: Stack;
let posts: string[] = [];
beforeAll(async () => {
  sandbox = await openStack({ time: 'real', worker: false });
  const service = {
    ...sandbox.deps.service,
    // Each answer is lost, and the service shows nothing.
    sendCrypto: async ({ referenceId }: { readonly referenceId: string }) => {
      posts.push(referenceId);
      throw new UnknownOutcomeError('sendCrypto', 'timeout');
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

/** The effect of the UI's reset to right before an update was taken: Temporal applies that update again. */
async function resetToBefore(handle: WorkflowHandle, updateId: string): Promise<string> {
  const { events } = await handle.fetchHistory();
  const accepted = events?.findIndex(
    ({ workflowExecutionUpdateAcceptedEventAttributes: taken }) => taken?.acceptedRequest?.meta?.updateId === updateId,
  );
  const before = events?.slice(0, accepted);
  const decision = before?.findLast((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
  if (decision == null) throw new Error(`${handle.workflowId} has decided nothing before`);
  const { runId } = await bench.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
    reason: 'a test of resets',
    requestId: randomUUID(),
    workflowTaskFinishEventId: decision,
  });
  return runId ?? '';
}

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
  const runId = await resetToBefore(handle, updateId);
  const reset = bench.client.workflow.getHandle(workflowId, runId);
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
