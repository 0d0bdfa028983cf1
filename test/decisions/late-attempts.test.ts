import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import type { ClaimStepOrder } from '../../activities/types.js';
import { RejectedError } from '../../src/service-client/index.js';
import { newReference } from '../harness/references.js';
import { noted, reportOf } from '../harness/reports.js';
import offramp from '../kinds/offramp.js';
import { ended, openDecisionBench } from './bench.js';

/** What an attempt does that its worker began before all others, and that went on after them. */
let late: (order: ClaimStepOrder) => Promise<unknown> = async () => undefined;
let isRefused = true;
/** A proxy sends it twice: the first one is executed, and the answer is that of the second. */
let isSentTwice = false;
let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    createOfframp: async (body) => {
      if (!isRefused) return service.createOfframp(body);
      if (isSentTwice) await service.createOfframp(body);
      const refusal = { httpStatus: 400, message: 'Rate Expired', fields: [], isAboutReference: false };
      throw new RejectedError('createOfframp', { ...refusal, isRateExpired: true });
    },
  }));
  late = (order) => createFlowStepActivities(decisions.bench.deps).submitStep({ ...order, reviewedEventIds: [] });
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const started = async (word: string) => {
  isRefused = true;
  const reference = newReference(word);
  const handle = await decisions.bench.startFlow('offramp', reference, offramp.input(reference));
  const order = async (): Promise<ClaimStepOrder> => {
    const scheduled = (await handle.fetchHistory()).events
      ?.map((event) => event.activityTaskScheduledEventAttributes)
      .find((activity) => activity?.activityType?.name === 'submitStep');
    return JSON.parse(Buffer.from(scheduled?.input?.payloads?.[0]?.data ?? []).toString()) as ClaimStepOrder;
  };
  return { handle, order, executions: () => decisions.executions('createOfframp', reference) };
};

test('a flow whose rate the service reports as expired is not called failed if the lookup shows that it was executed: it is followed', async () => {
  isSentTwice = true;
  const { handle, executions } = await started('sent-twice');
  await noted(handle, 'accepted');
  const { view } = await reportOf(handle);
  isSentTwice = false;
  expect([view.outcome, await executions()]).toEqual([null, 1]);
  await handle.terminate();
});

test('an attempt that is late sends nothing after its flow ended because the service refused its rate', async () => {
  const { handle, order, executions } = await started('ended');
  expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
  isRefused = false;
  expect(await late(await order())).toMatchObject({ kind: 'rejected' });
  expect(await executions()).toBe(0);
});
