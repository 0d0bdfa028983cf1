import { execFile, execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import { planFlows, startPlanned, type Planned } from './driver.js';
import type { Case, Verdict } from './judge.js';
import { healService, injectFaults, startNemesis, type Nemesis } from './nemesis.js';
import { htmlOf, judgementOf, textOf, type Run } from './report.js';
import { openWorld, type Database, type World } from './world.js';

const HELP = `npm run chaos [-- --flows N --seed S --rate R --database embedded|postgres --out FOLDER]

Runs the whole product as processes (Temporal, sandbox, 2 gateways, 3 workers) with wires between them, orders flows of
all kinds, and breaks everything meanwhile: processes are killed and frozen, wires cut, answers lost, webhooks doubled,
reordered, dropped and forged. Then a judge of its own holds six witnesses against one another.

  --flows N     how many flows (500)
  --seed S      what goes wrong (1); the same seed nearly repeats
  --rate R      flows a second (4)
  --database D  embedded, or postgres, which needs Postgres on this machine (embedded)
  --out FOLDER  where report.json and report.html go (chaos-report)

Exits with 0 if it is green, 1 if an invariant is violated, 3 if too little went wrong for that to mean anything.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const isDatabase = (word: string): word is Database => word === 'embedded' || word === 'postgres';
const EXIT_OF = { green: 0, RED: 1, INVALID: 3 } as const;
/** The warm-up and the end, of all flows: they meet no fault. */
const CALM_SHARE = 0.1;
/** Deadlines of the run, and a minute for what comes after them. */
const REST_WITHIN_MS = 420_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      flows: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      rate: { type: 'string', default: '4' },
      database: { type: 'string', default: 'embedded' },
      out: { type: 'string', default: 'chaos-report' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    say(HELP);
    return 0;
  }
  const [flows, seed, rate] = [Number(values.flows), Number(values.seed), Number(values.rate)];
  const { database } = values;
  if (![flows, seed].every(Number.isInteger) || flows < 20 || !(rate > 0) || !isDatabase(database)) {
    say('--flows takes a whole number of at least 20, --seed a whole number, --rate a number above 0, and --database');
    say('embedded or postgres. `npm run chaos -- --help` says more.');
    return 2;
  }
  const run = await play({ flows, seed, rate, database });
  const out = resolve(values.out);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'report.json'), `${JSON.stringify(run, null, 1)}\n`);
  await writeFile(join(out, 'report.html'), htmlOf(run));
  say(textOf(run));
  say(`  written to   ${join(out, 'report.html')} and report.json`);
  return EXIT_OF[judgementOf(run)];
}

async function play({
  flows,
  seed,
  rate,
  database,
}: {
  flows: number;
  seed: number;
  rate: number;
  database: Database;
}) {
  const startedAtMs = performance.now();
  const startedAt = new Date().toISOString();
  say(`seed ${seed}: starting Temporal, the sandbox, 2 gateways and 3 workers`);
  const world = await openWorld(database, say);
  try {
    await subscribe(world);
    const plan = planFlows(flows, seed);
    const calm = Math.ceil(flows * CALM_SHARE);
    const orders = createOrders(world, rate);

    say(`${calm} flows without faults`);
    await orders.start(plan.slice(0, calm));
    await orders.all();
    const requestsBefore = world.wire.requests().length;
    const chaosFromMs = Date.now();
    say(`${flows - 2 * calm} flows, and everything breaks`);
    await injectFaults(world);
    const nemesis = startNemesis(world, seed, (line) => say(`  ${line}`));
    const probes = startProbes(world, nemesis, seed);
    await orders.start(plan.slice(calm, flows - calm));
    await nemesis.rest();
    await healService(world);
    const chaosToMs = Date.now();
    say(`everything is healed; ${calm} more flows, and rest`);
    await orders.start(plan.slice(flows - calm));
    await orders.all();
    const recoveries = await probes.over();
    const requestsAfter = world.wire.requests().length;

    const verdict = await judge(world);
    const run: Run = {
      seed,
      flows: flows + recoveries.length,
      database,
      commit: commit(),
      startedAt,
      chaosFromMs,
      chaosToMs,
      tookMs: performance.now() - startedAtMs,
      deeds: nemesis.deeds,
      recoveries,
      requestsPerFlow: { calm: requestsBefore / calm, chaos: (requestsAfter - requestsBefore) / (flows - calm) },
      shortOf: shortOf(verdict, nemesis, flows),
      verdict,
    };
    return run;
  } finally {
    await world.close();
  }
}

/** Webhooks of the account come besides the callbacks. */
async function subscribe(world: World): Promise<void> {
  const said = await world.towline('doctor', '--show-secrets');
  const [, url] = /webhook URL\W+(http\S+)/.exec(said) ?? [];
  if (url === undefined) throw new Error(`\`towline doctor\` names no URL for webhooks: ${said}`);
  await world.subscribe(url);
}

/** Starts flows at a rate, whatever becomes of those before. */
function createOrders(world: World, rate: number) {
  const started: Promise<void>[] = [];
  return {
    async start(plan: readonly Planned[]): Promise<void> {
      for (const flow of plan) {
        const starting = startPlanned(world, flow);
        starting.catch(() => undefined);
        started.push(starting);
        await sleep(1_000 / rate);
      }
    },
    all: async (): Promise<void> => void (await Promise.all(started)),
  };
}

/** Right after each kill a transfer is ordered: how long until it was sent and answered? */
function startProbes(world: World, nemesis: Nemesis, seed: number) {
  const probed: Promise<{ deed: string; ms: number }>[] = [];
  const over = new AbortController();
  let seen = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      const kills = nemesis.deeds.filter(({ deed }) => deed.startsWith('kill'));
      for (const { deed, atMs } of kills.slice(seen)) {
        seen += 1;
        probed.push(probe(world, `probe-${seed}-${seen}`).then((endedAtMs) => ({ deed, ms: endedAtMs - atMs })));
      }
      await sleep(50);
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

async function probe(world: World, reference: string): Promise<number> {
  const evm = '0x3333333333333333333333333333333333333333';
  const input = {
    referenceId: reference,
    receiverAddress: evm,
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: '1',
    timeScale: 0.1,
  };
  await startPlanned(world, { kind: 'crypto-send', reference, input, ending: undefined, begunElsewhere: undefined });
  const path = '/api/v3/onramp/crypto';
  for (;;) {
    const isSent = world.wire
      .requests()
      .some((request) => request.path === path && request.status !== null && request.body.includes(`"${reference}"`));
    if (isSent) return Date.now();
    await sleep(50);
  }
}

async function judge(world: World): Promise<Verdict> {
  const outside = join(world.folder, 'outside');
  const [wire, inbound] = [join(outside, 'wire.json'), join(outside, 'inbound.json')];
  await writeFile(wire, JSON.stringify(world.wire.requests()));
  await writeFile(inbound, JSON.stringify(world.inbound.requests()));
  const given: Case = {
    temporalAddress: world.temporalAddress,
    sandboxUrl: world.sandboxUrl,
    gatewayUrl: world.gatewayUrl,
    storePath: world.storePath,
    payloadKey: world.payloadKey,
    journal: world.journal.path,
    wire,
    inbound,
    secrets: world.secrets,
    folder: world.folder,
    bundlePath: join(packageRoot(), 'dist', 'workflow-bundle.js'),
    patienceMs: REST_WITHIN_MS,
  };
  const path = join(outside, 'case.json');
  await writeFile(path, JSON.stringify(given));
  const args = ['--no-warnings', '--import', './tools/typescript.mjs', 'test/chaos/judge.ts', path];
  const options = { cwd: packageRoot(), encoding: 'utf8', maxBuffer: 1 << 28 } as const;
  return JSON.parse((await promisify(execFile)(process.execPath, args, options)).stdout) as Verdict;
}

/** What was promised of 2,000 flows, in proportion. */
function shortOf(verdict: Verdict, { deeds }: Nemesis, flows: number): readonly string[] {
  const least = (of2000: number) => Math.max(1, Math.floor((of2000 * flows) / 2_000));
  const kills = deeds.filter(({ deed }) => deed.startsWith('kill')).length;
  const frozen = deeds.filter(({ deed }) => deed.startsWith('freeze')).length;
  const late = verdict.inbox['late'] ?? 0;
  return [
    ...(verdict.unknownAndExecuted < least(20)
      ? [`executed without an answer that says so: ${verdict.unknownAndExecuted}`]
      : []),
    ...(late < least(10) ? [`events that came late: ${late}`] : []),
    ...(kills < least(40) ? [`processes killed: ${kills}`] : []),
    ...(frozen < least(8) ? [`processes frozen: ${frozen}`] : []),
  ];
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: packageRoot(), encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
