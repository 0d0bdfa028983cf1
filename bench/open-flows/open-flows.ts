import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.js';
import { processMemoryMb } from '../measure/memory.js';
import { cpuPer, stopwatch, type CpuMs } from '../measure/cpu.js';
import { medianOf } from '../measure/rounds.js';
import { sendAll } from '../setup/http-load.js';
import { allDelivered } from '../gateway/inbox-state.js';
import { openStack, type Stack } from '../setup/stack.js';
import { openTransfers, webhook } from '../setup/transfers.js';

/** Flows that are open when CPU is measured: the first and the last are compared. */
const FEW = 100;
const MEMORY_FROM = 1_000;
const MEMORY_TO = 5_000;
const MANY = 20_000;
const WEBHOOKS = 100;
const ROUNDS = 3;

interface Footprint {
  readonly memoryMb: number;
  readonly diskKb: number;
}

export const openFlows: Benchmark = {
  name: 'open-flows',
  about: `P7 P8: what an open flow takes, and what a webhook costs with ${MANY} of them (takes an hour)`,
  onlyNamed: true,
  async run(say) {
    const stack = await openStack(say);
    try {
      const open = new Set<string>();
      const openUntil = async (count: number): Promise<void> => {
        say(`opening flows, up to ${count}`);
        for (const reference of await openTransfers(stack, count - open.size)) open.add(reference);
      };
      await openUntil(FEW);
      const few = await costOfWebhooks(stack, [...open]);
      await openUntil(MEMORY_FROM);
      const before = await footprint(stack);
      await openUntil(MEMORY_TO);
      const after = await footprint(stack);
      await openUntil(MANY);
      const many = await costOfWebhooks(stack, [...open]);

      const flows = MEMORY_TO - MEMORY_FROM;
      const from = `${MEMORY_FROM} → ${MEMORY_TO} open flows`;
      const ratio = (of: string) => medianOf(many, (cpu) => cpu[of] ?? 0) / medianOf(few, (cpu) => cpu[of] ?? 0);
      const shown = (rounds: readonly CpuMs[]) => cpuPer(WEBHOOKS, rounds[rounds.length >> 1] ?? {});
      const figures = `CPU ms a webhook: ${FEW} open ${shown(few)}; ${MANY} open ${shown(many)}`;
      return [
        {
          budget: 'P7',
          what: 'memory of server and worker for each open flow',
          limit: { bound: 'at most', value: 0.25 },
          unit: 'MB',
          measured: (after.memoryMb - before.memoryMb) / flows,
          figures: from,
        },
        {
          budget: 'P7',
          what: 'disk for each open flow, Temporal and store',
          limit: { bound: 'at most', value: 50 },
          unit: 'kB',
          measured: (after.diskKb - before.diskKb) / flows,
          figures: from,
        },
        ...(['server', 'worker'] as const).map((of) => ({
          budget: 'P8',
          what: `CPU of the ${of} for a webhook with ${MANY} open flows, against ${FEW}`,
          limit: { bound: 'at most' as const, value: of === 'server' ? 1.2 : 1.5 },
          unit: '×' as const,
          measured: ratio(of),
          figures,
        })),
      ];
    } finally {
      await stack.close();
    }
  },
};

/** One status each for some of the open flows, spread over all of them, so that not only the latest are used. */
async function costOfWebhooks(stack: Stack, references: readonly string[]): Promise<readonly CpuMs[]> {
  const rounds: CpuMs[] = [];
  const step = references.length / WEBHOOKS;
  for (let round = 0; round < ROUNDS; round += 1) {
    const requests = Array.from({ length: WEBHOOKS }, (_, at) =>
      webhook(stack, references[Math.floor(at * step)] ?? '', 'PAYMENT_SENT'),
    );
    const cpu = stopwatch({ server: stack.serverPid, worker: stack.workerPid(), gateway: stack.gatewayPid() });
    await sendAll(stack.url, requests, 8);
    await allDelivered(stack);
    rounds.push(cpu());
  }
  return rounds;
}

async function footprint(stack: Stack): Promise<Footprint> {
  const memoryMb = [stack.serverPid, stack.workerPid()].reduce((sum, pid) => sum + processMemoryMb(pid, 'VmRSS'), 0);
  const files = (await readdir(stack.folder)).filter((name) => /^(temporal|store)\.db/.test(name));
  const sizes = await Promise.all(files.map((name) => stat(join(stack.folder, name))));
  return { memoryMb, diskKb: sizes.reduce((sum, { size }) => sum + size, 0) / 1_000 };
}
