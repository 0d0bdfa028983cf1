import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark } from '../benchmark.js';
import { watchBackends, type Backends } from '../measure/backends.js';
import { medianOf, sideBySide } from '../measure/rounds.js';
import { lockOf } from '../../src/store/postgres/transaction.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { notMeasured, type Finding } from '../report/finding.js';
import { sendAll } from '../setup/http-load.js';
import { makeDatabase, startPostgres } from '../setup/postgres.js';
import { openStack, type Stack } from '../setup/stack.js';
import { flowIdOfTransfer, openTransfers, webhook } from '../setup/transfers.js';
import { allDelivered } from './inbox-state.js';

const FLOWS = 100;
const WEBHOOKS = 500;
const AT_ONCE = 16;
const ROUNDS = 3;
const SAMPLED_EVERY_MS = 10;
/** With fewer there is nothing that a second gateway could work with. */
const CORES_TO_SPARE = 6;

/** P12: two gateways on one Postgres do not wait for one another. */
export const twoGateways: Benchmark = {
  name: 'two-gateways',
  about: 'P12: webhooks to one gateway on Postgres, and to two, with the waits for locks; part of gateway',
  onlyNamed: true,
  async run(say) {
    const postgres = await startPostgres(say);
    if (postgres === undefined) return [notMeasured('P12', 'Postgres is not installed')];
    try {
      const url = await makeDatabase(postgres.url);
      const stack = await openStack(say, { DATABASE_URL: url });
      const backends = await watchBackends(url);
      try {
        const another = await stack.addGateway();
        const references = await openTransfers(stack, FLOWS);
        say('webhooks to both, and to one');
        return await compare(stack, [stack.url, another.url], references, backends);
      } finally {
        await backends.close();
        await stack.close();
      }
    } finally {
      await postgres.stop();
    }
  },
};

interface Load {
  readonly perSecond: number;
  /** Of the moments of all sessions that were at work. */
  readonly active: number;
  /** For the lock of one flow. */
  readonly ofOneFlow: number;
  readonly waiting: number;
}

async function compare(
  stack: Stack,
  urls: readonly [string, string],
  references: readonly string[],
  backends: Backends,
): Promise<readonly Finding[]> {
  const ofFlows = new Set(
    references.map((reference) => String(lockOf(turnOf.inbox(flowIdOfTransfer(reference)).name))),
  );
  const load = async (to: readonly string[]): Promise<Load> => {
    const all = Array.from({ length: WEBHOOKS }, (_, n) =>
      webhook(stack, references[n % references.length] as string, 'PAYMENT_SENT'),
    );
    const sampled = sampleLocks(backends, ofFlows);
    const startedMs = performance.now();
    await Promise.all(
      to.map((url, which) =>
        sendAll(
          url,
          all.filter((_, n) => n % to.length === which),
          AT_ONCE / to.length,
        ),
      ),
    );
    const perSecond = (WEBHOOKS * 1_000) / (performance.now() - startedMs);
    await allDelivered(stack);
    const locks = await sampled.stop();
    return { perSecond, ...locks };
  };
  await load(urls);
  const rounds = await sideBySide({ a: () => load(urls), b: () => load([urls[0]]) }, ROUNDS);
  const [two, one] = [rounds.a, rounds.b].map((of) => medianOf(of, ({ perSecond }) => perSecond)) as [number, number];
  const sum = (of: keyof Omit<Load, 'perSecond'>) => rounds.a.reduce((all, round) => all + round[of], 0);
  const hasCores = availableParallelism() >= CORES_TO_SPARE;
  return [
    {
      budget: 'P12',
      what: 'two gateways on one Postgres: share of the time at work that sessions wait for a lock that is not of one flow',
      limit: { bound: 'at most', value: 0.01 },
      unit: '×',
      measured: sum('waiting') / sum('active'),
      figures: `${sum('waiting')} of ${sum('active')} moments, and ${sum('ofOneFlow')} for events of the same flow, one each ${SAMPLED_EVERY_MS} ms, until all were delivered`,
    },
    {
      budget: 'P12',
      what: `webhooks acknowledged per second by two gateways against one, ${AT_ONCE} at a time`,
      // Reported, but not required if both share the cores with everything else.
      limit: { bound: 'at least', value: hasCores ? 1.7 : 0 },
      unit: '×',
      measured: two / one,
      figures: `two ${two.toFixed(0)}/s, one ${one.toFixed(0)}/s, on ${availableParallelism()} cores with everything else${hasCores ? '' : ': no budget below ' + String(CORES_TO_SPARE)}`,
    },
  ];
}

function sampleLocks(backends: Backends, ofFlows: ReadonlySet<string>) {
  const total = { active: 0, ofOneFlow: 0, waiting: 0 };
  const stopped = new AbortController();
  const look = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const { active, waitedFor } = await backends.atWork();
      const ofOneFlow = waitedFor.filter((lock) => ofFlows.has(lock)).length;
      total.active += active;
      total.ofOneFlow += ofOneFlow;
      total.waiting += waitedFor.length - ofOneFlow;
      await sleep(SAMPLED_EVERY_MS);
    }
  };
  const looking = look();
  return {
    async stop() {
      stopped.abort();
      await looking;
      return total;
    },
  };
}
