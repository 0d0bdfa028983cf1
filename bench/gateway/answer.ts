import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { bareFlow } from '../floor/bare-flow.js';
import { BARE_QUEUE, startBareWorker } from '../floor/start-bare-worker.js';
import { compareLatency, shownLatency } from '../measure/latency.js';
import { ratioOf } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { openCaller } from '../setup/caller.js';
import { createSender } from '../setup/http-load.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from '../setup/stack.js';
import { depositRequest, quote } from '../setup/transfers.js';
import { processesOf } from './inbox-state.js';

/** Of each, in a round: one deposit, one bare flow, and so on. */
const STARTS = 50;
/** Pause between two starts, so that the first one's remaining work (polling, callbacks) does not slow the next. */
const REST_MS = 200;

/** P9: from a caller's deposit to the service's own answer, against a bare flow of two empty activities that answers. */
export async function answer(stack: Stack): Promise<readonly Finding[]> {
  const bareWorker = await startBareWorker(stack.temporalAddress);
  const caller = await openCaller();
  const sender = createSender(stack.url);
  try {
    const bareClient = new Client({ connection: stack.client.connection });
    let requests: Buffer[] = [];
    const throughProxy = async (): Promise<void> => {
      const request = requests.pop();
      if (request === undefined) throw new Error('fewer deposits were made ready than a round makes');
      await sender.send(request);
    };
    const bare = async (): Promise<void> => {
      const workflowId = `bare-${randomUUID()}`;
      await bareClient.workflow.executeUpdateWithStart('answer', {
        startWorkflowOperation: new WithStartWorkflowOperation<typeof bareFlow>('bareFlow', {
          workflowId,
          taskQueue: BARE_QUEUE,
          args: [workflowId],
          workflowIdConflictPolicy: 'FAIL',
        }),
      });
    };
    const rounds = await compareLatency(
      {
        a: { processes: processesOf(stack), stretch: () => once(throughProxy) },
        b: { processes: { server: stack.serverPid, worker: bareWorker.pid }, stretch: () => once(bare) },
      },
      {
        stretches: STARTS,
        async prepare(stretches) {
          const deposit = async () =>
            depositRequest(stack, {
              reference: `bench-${randomUUID()}`,
              rateId: await quote(stack),
              callbackUrl: caller.url,
            });
          requests = [...(await inTurns(Array.from({ length: stretches }), 4, deposit))];
        },
      },
    );
    return [
      {
        budget: 'P9',
        what: "a deposit through the proxy to the service's answer, against a bare flow's, p50, one at a time, five a second",
        limit: { bound: 'at most', value: 1.5 },
        unit: '×',
        measured: ratioOf(rounds, ({ p50 }) => p50),
        figures: `proxy ${shownLatency(rounds.a)}; bare ${shownLatency(rounds.b)}; ${STARTS} of each in a round, in turns`,
      },
    ];
  } finally {
    sender.close();
    caller.close();
    await bareWorker.stop();
  }
}

/** How many milliseconds it took; a pause follows. */
async function once(start: () => Promise<void>): Promise<readonly number[]> {
  const startedMs = performance.now();
  await start();
  const tookMs = performance.now() - startedMs;
  await sleep(REST_MS);
  return [tookMs];
}
