import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { startFlow } from '../../src/temporal/start-flow.js';
import { BARE_QUEUE, startBareWorker } from '../floor/start-bare-worker.js';
import { cpuPer, stopwatch, sumOf, type CpuMs } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, transferInput } from '../setup/transfers.js';

const FLOWS = 200;
const AT_ONCE = 32;
/** The sandbox carries it through all five statuses by callbacks, a step each. */
const BY_CALLBACKS = '1000.11';
const STEP_MS = 20;
const SIGNALS = 5;

export interface Round {
  readonly perSecond: number;
  readonly cpu: CpuMs;
}

export interface Sides {
  readonly transfers: (flows: number) => Promise<Round>;
  readonly bare: (flows: number) => Promise<Round>;
  readonly close: () => Promise<void>;
}

/** Whole transfers, sandbox, callbacks and gateway included, and flows that do nothing, on as many workers. */
export async function openSides(stack: Stack): Promise<Sides> {
  const workerPids = stack.workerPids();
  const bareWorkers = await Promise.all(workerPids.map(() => startBareWorker(stack.temporalAddress)));
  const close = async () => void (await Promise.all(bareWorkers.map((worker) => worker.stop())));
  try {
    await setStep(stack);
  } catch (error) {
    await close();
    throw error;
  }
  const bareClient = new Client({ connection: stack.client.connection });
  const round = async (flows: number, pids: readonly number[], run: () => Promise<unknown>): Promise<Round> => {
    const workers = pids.map((pid, at) => [at === 0 ? 'worker' : `worker ${at + 1}`, pid] as const);
    const cpu = stopwatch({ server: stack.serverPid, ...Object.fromEntries(workers) });
    const startedMs = performance.now();
    await inTurns(Array.from({ length: flows }), AT_ONCE, run);
    return { perSecond: (flows * 1_000) / (performance.now() - startedMs), cpu: cpu() };
  };
  return {
    transfers: (flows) =>
      round(flows, workerPids, async () => {
        const reference = `bench-${randomUUID()}`;
        await startFlow(stack, 'bridge-transfer', transferInput(reference, BY_CALLBACKS));
        await stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result();
      }),
    bare: (flows) =>
      round(
        flows,
        bareWorkers.map(({ pid }) => pid),
        async () => {
          const workflowId = `bare-${randomUUID()}`;
          const handle = await bareClient.workflow.start('bareFlow', {
            workflowId,
            taskQueue: BARE_QUEUE,
            args: [workflowId],
          });
          for (let sent = 0; sent < SIGNALS; sent += 1) await handle.signal('receive');
          await handle.result();
        },
      ),
    close,
  };
}

/** P1: a transfer against a flow that does nothing. */
export async function cost(stack: Stack): Promise<readonly Finding[]> {
  const { transfers, bare, close } = await openSides(stack);
  try {
    await transfers(FLOWS / 4);
    await bare(FLOWS / 4);
    const rounds = await sideBySide({ a: () => transfers(FLOWS), b: () => bare(FLOWS) });
    const cpuOf = ({ cpu }: Round) => sumOf(cpu) / FLOWS;
    const figures = `transfer ${shownCost(rounds.a, FLOWS)}; bare ${shownCost(rounds.b, FLOWS)}`;
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
    await close();
  }
}

/** `27.1 flows/s, CPU ms server 34.60 + worker 17.00`: the median rate, and the CPU of the round in the middle. */
export function shownCost(rounds: readonly Round[], flows: number): string {
  const typical = rounds.toSorted((a, b) => sumOf(a.cpu) - sumOf(b.cpu))[rounds.length >> 1] as Round;
  return `${medianOf(rounds, ({ perSecond }) => perSecond).toFixed(1)} flows/s, CPU ms ${cpuPer(flows, typical.cpu)}`;
}

async function setStep({ sandboxUrl }: Stack): Promise<void> {
  const answer = await fetch(`${sandboxUrl}/_sandbox/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stepMs: STEP_MS }),
  });
  if (!answer.ok) throw new Error(`the sandbox does not take its settings: ${await answer.text()}`);
}
