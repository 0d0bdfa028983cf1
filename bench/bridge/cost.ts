import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { startFlow } from '../../src/temporal/start-flow.js';
import { BARE_QUEUE, startBareWorker } from '../floor/start-bare-worker.js';
import { cpuPer, stopwatch, type CpuMs, type Processes } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { inTurns } from '../setup/in-turns.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, transferInput } from '../setup/transfers.js';

const FLOWS = 200;
const AT_ONCE = 32;
/** The sandbox carries it through all five statuses by callbacks, a step each. */
const BY_CALLBACKS = '1000.11';
const STEP_MS = 20;
const SIGNALS = 5;

interface Round {
  readonly perSecond: number;
  readonly cpu: CpuMs;
}

/** P1: a whole transfer, sandbox, callbacks and gateway included, against a flow that does nothing. */
export async function cost(stack: Stack): Promise<readonly Finding[]> {
  const bareWorker = await startBareWorker(stack.temporalAddress);
  try {
    await setStep(stack);
    const bareClient = new Client({ connection: stack.client.connection });
    const round = async (flows: number, processes: Processes, run: () => Promise<unknown>): Promise<Round> => {
      const cpu = stopwatch(processes);
      const startedMs = performance.now();
      await inTurns(Array.from({ length: flows }), AT_ONCE, run);
      return { perSecond: (flows * 1_000) / (performance.now() - startedMs), cpu: cpu() };
    };
    const transfers = (flows: number) =>
      round(flows, { server: stack.serverPid, worker: stack.workerPid() }, async () => {
        const reference = `bench-${randomUUID()}`;
        await startFlow(stack, 'bridge-transfer', transferInput(reference, BY_CALLBACKS));
        await stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result();
      });
    const bare = (flows: number) =>
      round(flows, { server: stack.serverPid, worker: bareWorker.pid }, async () => {
        const workflowId = `bare-${randomUUID()}`;
        const handle = await bareClient.workflow.start('bareFlow', {
          workflowId,
          taskQueue: BARE_QUEUE,
          args: [workflowId],
        });
        for (let sent = 0; sent < SIGNALS; sent += 1) await handle.signal('receive');
        await handle.result();
      });

    await transfers(FLOWS / 4);
    await bare(FLOWS / 4);
    const rounds = await sideBySide({ a: () => transfers(FLOWS), b: () => bare(FLOWS) });
    const cpuOf = ({ cpu }: Round) => ((cpu['server'] ?? 0) + (cpu['worker'] ?? 0)) / FLOWS;
    const shown = (of: readonly Round[]) => {
      const typical = of.toSorted((a, b) => cpuOf(a) - cpuOf(b))[of.length >> 1] as Round;
      return `${medianOf(of, ({ perSecond }) => perSecond).toFixed(1)} flows/s, CPU ms ${cpuPer(FLOWS, typical.cpu)}`;
    };
    const figures = `transfer ${shown(rounds.a)}; bare ${shown(rounds.b)}`;
    return [
      {
        budget: 'P1',
        what: 'CPU of a whole transfer, server and worker, against a bare flow',
        limit: { bound: 'at most', value: 1.2 },
        unit: '×',
        measured: ratioOf(rounds, cpuOf),
        figures,
      },
      {
        budget: 'P1',
        what: `transfers per second against bare flows, ${AT_ONCE} at a time`,
        limit: { bound: 'at least', value: 0.75 },
        unit: '×',
        measured: ratioOf(rounds, ({ perSecond }) => perSecond),
        figures: 'sandbox and gateway work on the same machine',
      },
    ];
  } finally {
    await bareWorker.stop();
  }
}

async function setStep({ sandboxUrl }: Stack): Promise<void> {
  const answer = await fetch(`${sandboxUrl}/_sandbox/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stepMs: STEP_MS }),
  });
  if (!answer.ok) throw new Error(`the sandbox does not take its settings: ${await answer.text()}`);
}
