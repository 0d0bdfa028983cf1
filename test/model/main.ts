import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PARK_ACTIONS } from '../../src/protocol/vocabulary.js';
import { explore, storyOf } from './explore.js';
import { differencesFrom, PAIR_FILES } from './known-pairs.js';
import { lookFor, PLANTS, type Baseline, type Verdict } from './plants.js';
import { budgetOf, DEEP, FOR_PLANTS, nameOf, settingOf, WHOLE, type Space } from './spaces.js';

const HELP = `npm run model -- [--deep] [--plant all|NAME] [--space NAME [--path 3,1,4]] [--jobs N] [--list]

Explores every state of the deciding code in a small world (docs/decisions.md): every order of faults, events, orders
and time within the bounds. A space is named "KIND FAULTS/EVENTS/ORDERS [REPEAT] [slow] [later] [existing] [live] [from RULE]".
With "from RULE" it begins where that rule decides first, or where a person is asked for that reason.

  --deep         larger bounds: hours
  --plant all    takes out each rule, turns each condition around, and plants faults in the world: is each one noticed?
  --plant NAME   the same with one of them, and the story of how it is noticed
  --space NAME   one space; with --path, the story of a path in it
  --jobs N       processes side by side (default: one for each core)
  --list         the spaces and the plants by name

Exit code: 0 no violation (with --plant: each one is noticed), 1 otherwise.`;

/** Memory of one exploration: 40 bytes a state and its frontier. */
const MOST_STATES = 12_000_000;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    deep: { type: 'boolean' },
    list: { type: 'boolean' },
    plant: { type: 'string' },
    space: { type: 'string' },
    path: { type: 'string' },
    jobs: { type: 'string' },
    json: { type: 'boolean' },
    baseline: { type: 'string' },
  },
});

process.exitCode = await run();

async function run(): Promise<number> {
  if (values.help === true) return say(HELP);
  if (values.list === true)
    return say([...[...WHOLE, ...DEEP].map(nameOf), ...PLANTS.map(({ name }) => name)].join('\n'));
  if (values.space !== undefined) return exploreOne(spaceNamed(values.space));
  if (values.plant !== undefined)
    return values.baseline === undefined ? plant(values.plant) : plantOne(values.plant, values.baseline);
  return exploreAll(values.deep === true ? DEEP : WHOLE);
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function spaceNamed(name: string): Space {
  const [how = '', from] = name.split(' from ');
  const [kind, bounds = '', ...more] = how.split(' ');
  const [faults, events, orders] = bounds.split('/').map(Number);
  const known = [...WHOLE, ...DEEP, ...FOR_PLANTS].find((one) => nameOf(one) === name);
  if (known !== undefined) return known;
  const rules = PLANTS.flatMap(({ book: { without } }) => without ?? []);
  if (from !== undefined && !rules.includes(from) && !Object.hasOwn(PARK_ACTIONS, from))
    throw new TypeError(`"${from}" is neither a rule nor a reason to ask a person. See docs/decisions.md.`);
  const repeat = more.find((word) => !['slow', 'later', 'existing', 'live'].includes(word)) as Space['repeat'];
  if (kind === undefined || !Number.isInteger(faults) || !Number.isInteger(events) || !Number.isInteger(orders))
    throw new TypeError(`no such space: "${name}". See --list.`);
  return {
    kind: kind as Space['kind'],
    faults: faults ?? 0,
    events: events ?? 0,
    orders: orders ?? 0,
    ...(repeat === undefined ? {} : { repeat }),
    ...(more.includes('slow') ? { isSlow: true as const } : {}),
    ...(more.includes('later') ? { isOrderedLater: true as const } : {}),
    ...(more.includes('existing') ? { isExisting: true as const } : {}),
    ...(more.includes('live') ? { isLive: true as const } : {}),
    ...(from === undefined ? {} : { from }),
  };
}

function exploreOne(space: Space): number {
  const book = values.plant === undefined ? {} : (PLANTS.find(({ name }) => name === values.plant)?.book ?? {});
  const worldPlant = PLANTS.find(({ name }) => name === values.plant)?.worldPlant;
  const setting = settingOf(space, book, worldPlant);
  if (values.path !== undefined)
    return say(storyOf(setting, budgetOf(space), values.path.split(',').map(Number)).join('\n'));
  const { seen, pairs, ...found } = explore(setting, budgetOf(space), MOST_STATES);
  const row: Row = {
    space: nameOf(space),
    ...found,
    megabytes: Math.round(process.memoryUsage().rss / 1e6),
    seen: [...seen],
    pairs: [...pairs],
  };
  if (values.json === true) return say(JSON.stringify(row));
  say(inColumns(row));
  if (found.violation === null) return found.isWhole ? 0 : 1;
  say(`\nVIOLATION: ${found.violation.says}\n`);
  say(storyOf(setting, budgetOf(space), found.violation.path).join('\n'));
  const planted = values.plant === undefined ? '' : ` --plant "${values.plant}"`;
  say(
    `\nTo see it again: npm run model -- --space "${nameOf(space)}"${planted} --path ${found.violation.path.join(',')}`,
  );
  return 1;
}

interface Row {
  readonly space: string;
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
  readonly isWhole: boolean;
  readonly violation: { readonly says: string; readonly path: readonly number[] } | null;
  readonly seen: readonly string[];
  readonly pairs: readonly string[];
}

function inColumns(row: Row): string {
  const { space, states, transitions, depth, cpuSeconds, megabytes, isWhole, violation } = row;
  const figures = [
    states.toLocaleString('en'),
    transitions.toLocaleString('en'),
    String(depth),
    `${cpuSeconds.toFixed(1)} s`,
    `${megabytes} MB`,
  ];
  const columns = figures.map((figure) => figure.padStart(11)).join('');
  const end = violation === null ? (isWhole ? 'ok' : 'NOT WHOLE: more states than there is room for') : 'VIOLATION';
  return `${space.padEnd(36)}${columns}  ${end}`;
}

async function exploreAll(spaces: readonly Space[]): Promise<number> {
  const started = Date.now();
  say(
    `${'space'.padEnd(36)}${['states', 'transitions', 'depth', 'CPU', 'memory'].map((one) => one.padStart(11)).join('')}`,
  );
  const rows = await sideBySide(spaces, async (space) => {
    const row = JSON.parse(await ownProcess(['--space', nameOf(space), '--json'])) as Row;
    say(inColumns(row));
    if (row.violation !== null) say(`  ${row.violation.says}\n  npm run model -- --space "${row.space}"`);
    return row;
  });
  const total = (of: (row: Row) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const bad = rows.filter(({ violation, isWhole }) => violation !== null || !isWhole).length;
  say(
    `${total(({ states }) => states).toLocaleString('en')} states, ${total(({ transitions }) => transitions).toLocaleString('en')} transitions, ` +
      `${total(({ cpuSeconds }) => cpuSeconds).toFixed(0)} s CPU, ${Math.round((Date.now() - started) / 1_000)} s, ${bad} violations`,
  );
  const seen = new Set(rows.flatMap((row) => row.seen));
  const dead = neverReached(seen);
  if (dead.length > 0) say(`never reached: ${dead.join(', ')}`);
  const pairs = new Set(rows.flatMap((row) => row.pairs));
  const news = spaces === WHOLE ? differencesFrom('whole', pairs) : [];
  if (news.length > 0) say(`of ${pairs.size} pairs of step and result (${PAIR_FILES.whole}):\n${news.join('\n')}`);
  const isLost = news.some((line) => line.startsWith('-'));
  return bad + dead.length === 0 && !isLost ? 0 : 1;
}

function neverReached(seen: ReadonlySet<string>): readonly string[] {
  return PLANTS.flatMap(({ book: { without } }) =>
    without === undefined || seen.has(`rule ${without}`) ? [] : [without],
  );
}

async function plant(name: string): Promise<number> {
  const chosen = name === 'all' ? PLANTS : PLANTS.filter((one) => one.name === name);
  if (chosen.length === 0) throw new TypeError(`no such plant: "${name}". See --list.`);
  const started = Date.now();
  const counts = { violation: 0, unreached: 0, not: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'towline-model-'));
  try {
    const baseline = join(folder, 'baseline.json');
    await writeFile(baseline, JSON.stringify(await baselineOf(FOR_PLANTS)));
    await sideBySide(chosen, async (one) => {
      const verdict = JSON.parse(await ownProcess(['--plant', one.name, '--baseline', baseline])) as Verdict;
      counts[verdict.found] += 1;
      say(`${one.name.padEnd(36)}${inWords(verdict)}`);
      if (name !== 'all' && verdict.found === 'violation')
        say(`  npm run model -- --space "${verdict.space}" --plant "${one.name}"`);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const seconds = Math.round((Date.now() - started) / 1_000);
  const { violation, unreached, not } = counts;
  say(
    `${chosen.length} plants in ${seconds} s: ${violation} found by a violation, ${unreached} only as unreached, ${not} not found`,
  );
  return not === 0 ? 0 : 1;
}

/** What is reached in each of the spaces without a plant. */
async function baselineOf(spaces: readonly Space[]): Promise<readonly Baseline[]> {
  const rows = await sideBySide(
    spaces,
    async (space) => JSON.parse(await ownProcess(['--space', nameOf(space), '--json'])) as Row,
  );
  return spaces.map((space) => {
    const { seen = [], states = 0 } = rows.find((row) => row.space === nameOf(space)) ?? {};
    return { seen, states };
  });
}

function inWords(verdict: Verdict): string {
  if (verdict.found === 'violation') return `violation in ${verdict.space}: ${verdict.says}`;
  return verdict.found === 'unreached' ? `unreached: ${verdict.what.join(', ')}` : 'NOT FOUND';
}

async function plantOne(name: string, file: string): Promise<number> {
  const one = PLANTS.find((candidate) => candidate.name === name);
  if (one === undefined) throw new TypeError(`no such plant: "${name}"`);
  return say(JSON.stringify(lookFor(one, FOR_PLANTS, JSON.parse(await readFile(file, 'utf8')) as Baseline[])));
}

async function sideBySide<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
): Promise<readonly Result[]> {
  const jobs = Number(values.jobs ?? availableParallelism());
  const waiting = [...all];
  const results: Result[] = [];
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) results.push(await work(one));
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, worker));
  return results;
}

/** The output of this program with other arguments: an exploration has the memory of a process to itself. */
function ownProcess(args: readonly string[]): Promise<string> {
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=2500', ...process.execArgv, fileURLToPath(import.meta.url), ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () =>
      out === '' ? reject(new Error(`${args.join(' ')}: the exploration printed nothing`)) : resolve(out),
    );
  });
}
