import { join } from 'node:path';
import { startTemporalCluster } from '../../test/cluster/temporal-cluster.js';
import type { Benchmark } from '../benchmark.js';
import { openSides, shownCost, type Round } from '../bridge/cost.js';
import { watchBackends, type Backends } from '../measure/backends.js';
import { sumOf } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { makeDatabase, startPostgres } from '../setup/postgres.js';
import { openStack, type Stack } from '../setup/stack.js';

const FLOWS = 200;
/** What has no budget is reported. */
const REPORTED = { bound: 'at least', value: 0 } as const;

/** P13: what a transfer costs as in production, where the bare flow is the measure again. */
export const cluster: Benchmark = {
  name: 'cluster',
  about: 'P13: a whole transfer against a bare flow on a real Temporal server and Postgres, with two workers',
  onlyNamed: true,
  async run(say) {
    const postgres = await startPostgres(say);
    if (postgres === undefined) return [];
    try {
      const store = await makeDatabase(postgres.url);
      const stack = await openStack(say, { DATABASE_URL: store }, (folder, log) =>
        startTemporalCluster({ databaseUrl: postgres.url, folder: join(folder, 'temporal'), log }),
      );
      const backends = await watchBackends(postgres.url);
      try {
        await stack.addWorker();
        say('transfers and bare flows, in turns');
        return await measure(stack, backends, new URL(store).pathname.slice(1));
      } finally {
        await backends.close();
        await stack.close();
      }
    } finally {
      await postgres.stop();
    }
  },
};

interface Costs extends Round {
  /** Bytes that were added. */
  readonly temporal: number;
  readonly store: number;
  readonly log: number;
}

async function measure(stack: Stack, backends: Backends, storeName: string): Promise<readonly Finding[]> {
  const { transfers, bare, close } = await openSides(stack);
  try {
    const withPostgres = async (play: (flows: number) => Promise<Round>, flows: number): Promise<Costs> => {
      const before = { cpuMs: await backends.cpuMs('all'), bytes: await backends.bytes() };
      const { perSecond, cpu } = await play(flows);
      const bytes = await backends.bytes();
      const added = (name: string) => (bytes.byDatabase[name] ?? 0) - (before.bytes.byDatabase[name] ?? 0);
      return {
        perSecond,
        cpu: { ...cpu, postgres: (await backends.cpuMs('all')) - before.cpuMs },
        temporal: added('temporal') + added('temporal_visibility'),
        store: added(storeName),
        log: bytes.log - before.bytes.log,
      };
    };
    await transfers(FLOWS / 4);
    await bare(FLOWS / 4);
    const rounds = await sideBySide({
      a: () => withPostgres(transfers, FLOWS),
      b: () => withPostgres(bare, FLOWS),
    });
    const kB = (of: readonly Costs[], which: 'temporal' | 'store' | 'log') =>
      medianOf(of, (round) => round[which]) / FLOWS / 1_000;
    const shownBytes = (of: readonly Costs[]) =>
      `Temporal ${kB(of, 'temporal').toFixed(1)} kB, store ${kB(of, 'store').toFixed(1)} kB, Postgres's log ${kB(of, 'log').toFixed(1)} kB`;
    return [
      {
        budget: 'P13',
        what: 'CPU of a whole transfer, Temporal, Postgres and workers, against a bare flow',
        limit: REPORTED,
        unit: '×',
        measured: ratioOf(rounds, ({ cpu }) => sumOf(cpu)),
        figures: `transfer ${shownCost(rounds.a, FLOWS)}; bare ${shownCost(rounds.b, FLOWS)}`,
      },
      {
        budget: 'P13',
        what: 'transfers per second, 32 at a time, against bare flows',
        limit: REPORTED,
        unit: '×',
        measured: ratioOf(rounds, ({ perSecond }) => perSecond),
        figures: 'everything shares this machine, the sandbox and the gateway included',
      },
      {
        budget: 'P13',
        what: 'disk of a whole transfer, Temporal and store',
        limit: REPORTED,
        unit: 'kB',
        measured: kB(rounds.a, 'temporal') + kB(rounds.a, 'store'),
        figures: `transfer ${shownBytes(rounds.a)}; bare ${shownBytes(rounds.b)}`,
      },
    ];
  } finally {
    await close();
  }
}
