import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { bareFlow } from '../floor/bare-flow.js';
import { BARE_QUEUE, startBareWorker } from '../floor/start-bare-worker.js';
import { cpuPer, stopwatch, type CpuMs, type Processes } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { createSender } from '../setup/http-load.js';
import { inTurns } from '../setup/in-turns.js';
import type { Stack } from '../setup/stack.js';
import { depositRequest, quote } from '../setup/transfers.js';
import { processesOf } from './inbox-state.js';

const STARTS = 25;
/** Many short ones, for a machine that is quick for a minute and slow for the next. */
const ROUNDS = 7;
/** Between one deposit and the next. */
const REST_MS = 200;

interface Round {
  readonly p50: number;
  readonly slowest: number;
  readonly cpu: CpuMs;
}

/** P9: from a caller's deposit to the service's own answer, against a bare flow of two empty activities that answers. */
export async function answer(stack: Stack): Promise<readonly Finding[]> {
  const bareWorker = await startBareWorker(stack.temporalAddress);
  const caller = await openCaller();
  const sender = createSender(stack.url);
  try {
    const { connection } = stack.client;
    const bareClient = new Client({ connection });
    const round = async <Ready>(
      starts: number,
      processes: Processes,
      sides: { readonly prepare: () => Promise<Ready>; readonly start: (ready: Ready) => Promise<unknown> },
    ): Promise<Round> => {
      const ready = await inTurns(Array.from({ length: starts }), 4, sides.prepare);
      const cpu = stopwatch(processes);
      const tookMs = await inTurns(ready, 1, async (one) => {
        // What the one before left to do (polling, callbacks) is no part of this one's way.
        await sleep(REST_MS);
        const startedMs = performance.now();
        await sides.start(one);
        return performance.now() - startedMs;
      });
      return { p50: percentile(tookMs, 0.5), slowest: Math.max(...tookMs), cpu: cpu() };
    };
    const throughProxy = (starts: number) =>
      round(starts, processesOf(stack), {
        prepare: async () => depositRequest(stack, await quote(stack), caller.url),
        start: (request) => sender.send(request),
      });
    const bare = (starts: number) =>
      round(
        starts,
        { server: stack.serverPid, worker: bareWorker.pid },
        {
          prepare: () => Promise.resolve(`bare-${randomUUID()}`),
          start: (workflowId) =>
            bareClient.workflow.executeUpdateWithStart('answer', {
              startWorkflowOperation: new WithStartWorkflowOperation<typeof bareFlow>('bareFlow', {
                workflowId,
                taskQueue: BARE_QUEUE,
                args: [workflowId],
                workflowIdConflictPolicy: 'FAIL',
              }),
            }),
        },
      );

    await throughProxy(STARTS);
    await bare(STARTS);
    const rounds = await sideBySide({ a: () => throughProxy(STARTS), b: () => bare(STARTS) }, ROUNDS);
    const shown = (of: readonly Round[]) =>
      `p50 ${medianOf(of, ({ p50 }) => p50).toFixed(1)} slowest ${medianOf(of, ({ slowest }) => slowest).toFixed(1)} ms, CPU ms ${cpuPer(STARTS, of[1]?.cpu ?? {})}`;
    return [
      {
        budget: 'P9',
        what: "a deposit through the proxy to the service's answer, against a bare flow's, p50, one at a time, five a second",
        limit: { bound: 'at most', value: 1.5 },
        unit: '×',
        measured: ratioOf(rounds, ({ p50 }) => p50),
        figures: `proxy ${shown(rounds.a)}; bare ${shown(rounds.b)}`,
      },
    ];
  } finally {
    sender.close();
    caller.close();
    await bareWorker.stop();
  }
}

/** Every deposit names where its caller is told of changes; the interface wants it so. */
async function openCaller(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => void response.end());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
