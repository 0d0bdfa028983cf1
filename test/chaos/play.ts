import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/package-root.js';
import type { RepeatMode } from '../../src/sandbox/settings.js';
import cryptoSend from '../kinds/crypto-send.js';
import { planFlows, startPlanned, type Planned } from './driver.js';
import { healService, injectFaults } from './faults.js';
import { judge } from './judged.js';
import { startNemesis, type Nemesis } from './nemesis.js';
import type { Recovery, Run } from './report.js';
import { subscribe } from './subscribe.js';
import { shortOf } from './validity.js';
import { watchWires, type Watch } from './watch.js';
import { openWorld, type Database, type World } from './world.js';

export interface RunOptions {
  readonly flows: number;
  readonly seed: number;
  /** Flows a second. */
  readonly rate: number;
  readonly database: Database;
  readonly repeatMode: RepeatMode;
  readonly say: (line: string) => void;
  /** Of a bundle that reports steps and results, if they are wanted. */
  readonly pairsBundlePath?: string;
}

/** The warm-up and the end, of all flows: they meet no fault. */
const CALM_SHARE = 0.1;
/** Deadlines of the run, and a minute for what follows them. */
const REST_WITHIN_MS = 420_000;
const LOOK_EVERY_MS = 50;
const WORKERS = 3;
const GATEWAYS = 2;

/** Warm-up, chaos, healing, rest; then the judge. */
export async function play({
  flows,
  seed,
  rate,
  database,
  repeatMode,
  say,
  pairsBundlePath,
}: RunOptions): Promise<Run> {
  const startedAtMs = performance.now();
  const startedAt = new Date().toISOString();
  say(`seed ${seed}: starting Temporal, the sandbox, ${GATEWAYS} gateways and ${WORKERS} workers`);
  const world = await openWorld({ database, repeatMode, workers: WORKERS, gateways: GATEWAYS, log: say });
  try {
    await subscribe(world);
    const watch = watchWires(world);
    const plan = planFlows(flows, seed);
    const calm = Math.ceil(flows * CALM_SHARE);
    const orders = createOrders(world, watch, rate);

    say(`${calm} flows without faults`);
    await orders.start(plan.slice(0, calm));
    await orders.all();
    const chaosFromMs = Date.now();
    say(`${flows - 2 * calm} flows, and everything breaks`);
    await injectFaults(world);
    const nemesis = startNemesis(world, watch, seed, (line) => say(`  ${line}`));
    const probes = startProbes(world, watch, nemesis, seed);
    await orders.start(plan.slice(calm, flows - calm));
    await nemesis.rest();
    await healService(world);
    const chaosToMs = Date.now();
    say(`everything is healed; ${calm} more flows, and rest`);
    await orders.start(plan.slice(flows - calm));
    await orders.all();
    const recoveries = await probes.over();
    const restFromMs = performance.now();
    const slow = recoveries.filter(({ ms }) => ms > SLOW_MS).map(({ reference }) => reference);
    const verdict = await judge(world, REST_WITHIN_MS, slow, pairsBundlePath);
    say(`rest and judgement took ${((performance.now() - restFromMs) / 1_000).toFixed(0)} s`);
    return {
      seed,
      flows: flows + recoveries.length,
      database,
      repeatMode,
      commit: commit(),
      startedAt,
      chaosFromMs,
      chaosToMs,
      tookMs: performance.now() - startedAtMs,
      deeds: nemesis.deeds,
      recoveries,
      shortOf: shortOf({ verdict, deeds: nemesis.deeds, flows }),
      verdict,
    };
  } finally {
    await world.close();
  }
}

/** Flows that were ordered and have sent nothing: more of them would only queue, and meet the nemesis in their sleep. */
const MOST_UNSENT = 24;
/** A flow that ends without a POST must not delay the others. */
const SENT_WITHIN_MS = 30_000;

/**
 * Starts flows at a rate, independently of how earlier ones end; on a busy machine as fast as they reach their POSTs.
 */
function createOrders(world: World, watch: Watch, rate: number) {
  const started: Promise<void>[] = [];
  const unsent = new Map<string, number>();
  const hasRoom = (): boolean => {
    for (const [reference, sinceMs] of unsent) {
      if (watch.hasSent(reference) || performance.now() - sinceMs > SENT_WITHIN_MS) unsent.delete(reference);
    }
    return unsent.size < MOST_UNSENT;
  };
  return {
    async start(plan: readonly Planned[]): Promise<void> {
      for (const flow of plan) {
        while (!hasRoom()) await sleep(LOOK_EVERY_MS);
        unsent.set(flow.reference, performance.now());
        const starting = startPlanned(world, flow);
        starting.catch(() => undefined);
        started.push(starting);
        await sleep(1_000 / rate);
      }
    },
    all: async (): Promise<void> => void (await Promise.all(started)),
  };
}

/** A recovery that takes this long is counted as this long, and the run goes on. */
const PROBED_FOR_MS = 180_000;
/** The report has the story of a slower one. */
const SLOW_MS = 10_000;

/** Right after each kill a crypto send is ordered: how long until the service has answered something about it? */
function startProbes(world: World, watch: Watch, nemesis: Nemesis, seed: number) {
  const probed: Promise<Recovery>[] = [];
  const over = new AbortController();
  let seen = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      const kills = nemesis.kills();
      for (const { deed, atMs } of kills.slice(seen)) {
        seen += 1;
        const reference = `probe-${seed}-${seen}`;
        const probing = probe(world, watch, reference).then((endedAtMs) => ({ deed, ms: endedAtMs - atMs, reference }));
        probing.catch(() => undefined);
        probed.push(probing);
      }
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return {
    async over() {
      over.abort();
      await watching;
      return Promise.all(probed);
    },
  };
}

async function probe(world: World, watch: Watch, reference: string): Promise<number> {
  const answered = watch.answered(reference);
  const input = { ...cryptoSend.input(reference), timeScale: 0.1 };
  const givenUp = sleep(PROBED_FOR_MS, undefined, { ref: false }).then(() => Date.now());
  await startPlanned(world, { kind: 'crypto-send', reference, input, ending: undefined, begunElsewhere: undefined });
  return Promise.race([answered, givenUp]);
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot(), encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
