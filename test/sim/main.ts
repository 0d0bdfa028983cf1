import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { reportingBundle } from '../harness/pairs.js';
import { pairsIn, unknownTo } from '../model/known-pairs.js';
import { simulationWith, type PlantedSimulation } from './planted.js';
import { plantNamed, PLANTS, type PlantedBug } from './plants.js';
import { createTally, failureText } from './report.js';
import { simulate } from './simulate.js';
import { reporting, workflowsOf } from './workflows.js';
import { CALM } from './world/weather.js';

const HELP = `npm run sim -- --seed N [--kind K] [--trace]       one run, and what it broke
npm run sim -- --seeds 10000 [--from 1] [--kind K]  many runs; exit 1 where one breaks a promise

  --plant NAME   with a bug planted: ${PLANTS.map(({ name }) => name).join(', ')}
  --keep-going   do not stop at the first run that breaks a promise
  --live         SERVICE_PROFILE=live, and a service that is so
  --lost-answers in place of the weather of the seed: a third of the requests fail, and most webhooks are lost
  --trace        print every line of a run
  --pairs FILE   writes each shape of a step and its result there, with the first seed that has it; exit 1 where one
                 is none that the world of the model knows (test/model/known-pairs.ts)
  --bundle PATH  the workflow bundle; default: the one in dist/`;

const LOST_ANSWERS = { ...CALM, clearsAfterMs: 100 * 60_000, requestFails: 0.35, delivery: 0.9 };
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
      live: { type: 'boolean', default: false },
      'lost-answers': { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
      pairs: { type: 'string' },
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
    ...(values.live ? ['--live'] : []),
    ...(values['lost-answers'] ? ['--lost-answers'] : []),
  ];
  const heard = new Map<string, number>();
  let playing = 0;
  const play =
    values.pairs === undefined
      ? await player(planted, values.bundle)
      : await withPairs(planted, (pair) => void (heard.has(pair) || heard.set(pair, playing)));
  const run = (seed: number, live?: (line: string) => void) => {
    playing = seed;
    return play({ seed, kind, live, isLive: values.live, weather: values['lost-answers'] ? LOST_ANSWERS : undefined });
  };
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
  const unknown = values.pairs === undefined ? [] : unknownTo(pairsIn('whole'), heard.keys());
  if (values.pairs !== undefined) {
    writeFileSync(
      values.pairs,
      [...heard]
        .map(([pair, seed]) => `${pair}\t${seed}\n`)
        .toSorted()
        .join(''),
    );
    console.log(`${heard.size} pairs of step and result, ${unknown.length} that the world of the model does not know`);
    for (const pair of unknown) console.log(`  ${pair}   (seed ${heard.get(pair)})`);
  }
  return broken.length + unknown.length > 0 ? 1 : 0;
}

async function player(
  bug: PlantedBug | undefined,
  bundle: string,
  heard?: (pair: string) => void,
): Promise<PlantedSimulation['simulate']> {
  if (bug === undefined) {
    const vms = reporting(workflowsOf(bundle), heard);
    return (options) => simulate({ ...options, vms });
  }
  const planted = await simulationWith(bug, bundle, heard);
  // Its sources are loaded by then.
  planted.close();
  return planted.simulate;
}

async function withPairs(bug: PlantedBug | undefined, heard: (pair: string) => void) {
  const { codePath, close } = await reportingBundle();
  try {
    return await player(bug, codePath, heard);
  } finally {
    close();
  }
}

const perMinute = (runs: number, sinceMs: number) => Math.round((runs * 60_000) / (performance.now() - sinceMs));

// A run that cannot be played to its end (a workflow task that fails, a replay that differs) is broken, too.
process.exit(
  await main().catch((error: unknown) => {
    console.error(error);
    return 1;
  }),
);
