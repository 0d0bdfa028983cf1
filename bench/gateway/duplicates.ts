import { cpuPer, stopwatch, sumOf, type CpuMs } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { countCalls } from '../setup/count-calls.js';
import { sendAll } from '../setup/http-load.js';
import type { Stack } from '../setup/stack.js';
import { webhook } from '../setup/transfers.js';
import { allDelivered, allSettled, processesOf } from './inbox-state.js';

const AT_ONCE = 32;
const REPEATS = 30;

interface Round {
  readonly cpu: CpuMs;
  readonly operations: number;
  readonly calls: number;
}

/**
 * P4: the cost of a repeated webhook. A fresh one is counted from the endpoint to the flow that took it, one for each
 * flow, without the later query for its result.
 */
export async function duplicates(stack: Stack, references: readonly string[]): Promise<readonly Finding[]> {
  const counter = await countCalls(stack.temporalAddress);
  try {
    await stack.restartGateway(counter.address);
    let known: readonly Buffer[] = [];
    const measured = async (requests: readonly Buffer[], drain: () => Promise<void>): Promise<Round> => {
      const [cpu, before] = [stopwatch(processesOf(stack)), counter.calls()];
      await sendAll(stack.url, requests, AT_ONCE);
      await drain();
      return { cpu: cpu(), operations: requests.length, calls: counter.calls() - before };
    };
    const fresh = () => {
      known = references.map((reference) => webhook(stack, reference, 'PAYMENT_SENT'));
      return measured(known, () => allDelivered(stack));
    };
    const repeated = async () => {
      await allSettled(stack);
      const requests = Array.from({ length: REPEATS }, () => known).flat();
      return measured(requests, async () => undefined);
    };
    await fresh();
    await repeated();
    const rounds = await sideBySide({ a: fresh, b: repeated });
    const each = ({ cpu, operations }: Round) => sumOf(cpu) / operations;
    const shown = (of: readonly Round[]) => {
      const typical = of.toSorted((a, b) => each(a) - each(b))[of.length >> 1] as Round;
      return `${medianOf(of, each).toFixed(2)} ms (${cpuPer(typical.operations, typical.cpu)})`;
    };
    return [
      {
        budget: 'P4',
        what: 'CPU of a duplicate webhook against a fresh one, gateway, server and worker together',
        limit: { bound: 'at most', value: 0.05 },
        unit: '×',
        measured: 1 / ratioOf(rounds, each),
        figures: `duplicate ${shown(rounds.b)}; fresh ${shown(rounds.a)}`,
      },
      {
        budget: 'P4',
        what: 'calls to Temporal by the duplicates',
        limit: { bound: 'at most', value: 0 },
        unit: 'calls',
        measured: rounds.b.reduce((sum, { calls }) => sum + calls, 0),
        figures: `${rounds.b.reduce((sum, { operations }) => sum + operations, 0)} duplicates; fresh ones: ${rounds.a.reduce((sum, { calls }) => sum + calls, 0)} calls for ${rounds.a.reduce((sum, { operations }) => sum + operations, 0)}`,
      },
    ];
  } finally {
    await stack.restartGateway(stack.temporalAddress);
    await counter.close();
  }
}
