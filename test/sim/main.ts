import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { simulationWith, type PlantedSimulation } from './planted.js';
import { plantNamed, PLANTS, type PlantedBug } from './plants.js';
import { createTally, failureText } from './report.js';
import { simulate } from './simulate.js';
import { workflowsOf } from './workflows.js';

const HELP = `npm run sim -- --seed N [--kind K] [--trace]       one run, and what it broke
npm run sim -- --seeds 10000 [--from 1] [--kind K]  many runs; exit 1 where one breaks a promise

  --plant NAME   with a bug planted: ${PLANTS.map(({ name }) => name).join(', ')}
  --keep-going   do not stop at the first run that breaks a promise
  --trace        print every line of a run
  --bundle PATH  the workflow bundle; default: the one in dist/`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const EVERY_MS = 10_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      kind: { type: 'string' },
      plant: { type: 'string' },
      bundle: { type: 'string', default: join(root, 'dist', 'workflow-bundle.js') },
      trace: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || (values.seed === undefined && values.seeds === undefined)) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const planted = values.plant === undefined ? undefined : plantNamed(values.plant);
  const kind = values.kind ?? planted?.kind;
  const extra = [
    ...(values.kind === undefined ? [] : ['--kind', values.kind]),
    ...(values.plant === undefined ? [] : ['--plant', values.plant]),
  ];
  const play = planted === undefined ? honest(values.bundle) : await withBug(planted, values.bundle);
  const run = (seed: number, live?: (line: string) => void) => play({ seed, kind, live });
  const replay = (seed: number) => ['npm run sim --', '--seed', seed, ...extra].join(' ');

  if (values.seed !== undefined) {
    const result = await run(Number(values.seed), values.trace ? (line) => console.log(line) : undefined);
    if (result.violations.length > 0)
      console.log(failureText(result, replay(result.seed), values.trace ? 0 : undefined));
    else console.log(`seed ${values.seed}: ${result.endings.join(', ')}; ${result.steps} steps, nothing broken`);
    return result.violations.length > 0 ? 1 : 0;
  }

  const tally = createTally();
  const broken: number[] = [];
  const startedMs = performance.now();
  let shownMs = startedMs;
  const first = Number(values.from);
  const count = Number(values.seeds);
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await run(seed);
    tally.add(result);
    if (result.violations.length > 0) {
      broken.push(seed);
      console.log(failureText(result, replay(seed), values['keep-going'] ? 0 : undefined));
      if (!values['keep-going']) break;
    }
    if (performance.now() - shownMs < EVERY_MS) continue;
    shownMs = performance.now();
    console.log(`${seed - first + 1} of ${count} runs, ${perMinute(seed - first + 1, startedMs)} seeds per minute`);
  }
  const done = broken.length > 0 && !values['keep-going'] ? (broken[0] ?? first) - first + 1 : count;
  console.log(
    `${tally.text()}\n${perMinute(done, startedMs)} seeds per minute; broken: ${broken.join(', ') || 'none'}`,
  );
  return broken.length > 0 ? 1 : 0;
}

const honest = (bundle: string): PlantedSimulation['simulate'] => {
  const vms = workflowsOf(bundle);
  return (options) => simulate({ ...options, vms });
};

/** Its sources are loaded by then. */
async function withBug(bug: PlantedBug, bundle: string): Promise<PlantedSimulation['simulate']> {
  const planted = await simulationWith(bug, bundle);
  planted.close();
  return planted.simulate;
}

const perMinute = (runs: number, sinceMs: number) => Math.round((runs * 60_000) / (performance.now() - sinceMs));

// A run that cannot be played to its end (a workflow task that fails, a replay that differs) is broken, too.
process.exit(
  await main().catch((error: unknown) => {
    console.error(error);
    return 1;
  }),
);
