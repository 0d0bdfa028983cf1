import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../../src/temporal/workflow-bundle.js';
import { copyOfSources, plant } from '../../harness/planted.js';
import { runToOutput } from '../../harness/run-to-output.js';
import { countBy, type Verdict } from '../case.js';
import { judge } from '../judged.js';
import { subscribe } from '../subscribe.js';
import { watchWires } from '../watch.js';
import { openWorld } from '../world.js';
import { BUGS, type PlantedBug } from './bugs.js';
import { personIn } from './person.js';
import { trialNamed, trialNames, type Trial, type TrialName } from './trials.js';

export const SELF_TEST_HELP = `npm run chaos -- --self-test [NAME…]   plants each bug (or those named) and shows whether the judge turns red
npm run chaos -- --self-test --list    the bugs, and what they do

Each bug is planted in a copy of the sources, as other exports in the place of a module's own. The copy is built, and run as
processes for one small scripted trial. The judge of the harness must name the invariant that the bug breaks. First every
trial is played without a bug, when it must be green.
Exit code: 0 if every bug was found for its invariant, 1 if one was not, or if a trial without a bug is not green.`;

type Say = (line: string) => void;

/** @returns the exit code */
export async function selfTest(names: readonly string[], say: Say): Promise<number> {
  const unknown = names.find((name) => BUGS.every((bug) => bug.name !== name));
  if (unknown !== undefined) {
    say(`No bug is called "${unknown}"; npm run chaos -- --self-test --list shows them.`);
    return 2;
  }
  const bugs = BUGS.filter(({ name }) => names.length === 0 || names.includes(name));
  const trials = trialNames.filter((name) => bugs.some(({ trial }) => trial === name));
  say(`without any bug: ${trials.join(', ')}`);
  const honest = await playTrials(trials, undefined, say);
  if (honest.problem !== undefined || honest.violations.length > 0) {
    say('Without any bug the trials are not green, so that what they find would show nothing:');
    if (honest.problem !== undefined) say(`  ${honest.problem}`);
    for (const { invariant, what } of honest.violations) say(`  ${invariant}: ${what}`);
    return 1;
  }
  say('  green\n');
  let found = 0;
  for (const bug of bugs) if (await isFound(bug, say)) found += 1;
  say(`\n${found} of ${bugs.length} bugs found, each for the invariant that it breaks`);
  return found === bugs.length ? 0 : 1;
}

export const listBugs = (): string =>
  BUGS.map(({ name, invariant, story }) => `${name.padEnd(30)}${invariant.padEnd(5)}${story}`).join('\n');

async function isFound(bug: PlantedBug, say: Say): Promise<boolean> {
  const copy = copyOfSources();
  try {
    plant(copy, ...bug.plants);
    await build(copy);
    const { violations, problem, states, parked } = await playTrials([bug.trial], copy, say);
    const red = violations.filter(({ invariant }) => invariant === bug.invariant);
    const others = Object.keys(countBy(violations.map(({ invariant }) => invariant)));
    const instead = [
      others.join(', ') || 'nothing',
      `flows: ${JSON.stringify(states)}`,
      ...parked.map(({ flowId, because }) => `${flowId} is parked because of ${because.join(', ')}`),
      ...(problem === undefined ? [] : [problem]),
    ].join('; ');
    const verdict = red.length > 0 ? `red: ${red[0]?.what}` : `NOT FOUND (red for ${instead})`;
    say(`${bug.name.padEnd(30)}${bug.invariant.padEnd(5)}${verdict}`);
    return red.length > 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Like `npm run build`, without the types: a bug may be rough. */
async function build(copy: string): Promise<void> {
  const [tsc, built] = [join(copy, 'node_modules', 'typescript', 'bin', 'tsc'), join(copy, 'built')];
  const flags = ['--noCheck', '--outDir', built, '--pretty', 'false'];
  const { code, output } = await runToOutput([tsc, '-p', join(copy, 'tools', 'tsconfig.build.json'), ...flags], copy);
  if (code !== 0) throw new Error(`a planted bug does not compile:\n${output}`);
  const dist = join(copy, 'dist');
  rmSync(dist, { recursive: true, force: true });
  renameSync(built, dist);
  await bundleWorkflows(join(copy, 'workflows', 'index.ts'), join(dist, 'workflow-bundle.js'));
}

/** At rest after the last step of a trial; a flow that never ends is overdue by then. */
const REST_WITHIN_MS = 60_000;

/**
 * @param product a checkout; undefined for this one
 * @returns the judge's verdict, and why a trial did not finish, if one did not
 */
async function playTrials(
  names: readonly TrialName[],
  product: string | undefined,
  say: Say,
): Promise<Pick<Verdict, 'violations' | 'states' | 'parked'> & { readonly problem?: string }> {
  const world = await openWorld({
    database: 'embedded',
    // A second POST cannot hide.
    repeatMode: 'execute-again',
    workers: 1,
    gateways: 1,
    // Only a death or a lost connection leaves a POST without an answer.
    serviceTimeoutSeconds: 120,
    env: { DUPLICATE_REFERENCE: 'sendCrypto=same-result' },
    ...(product === undefined ? {} : { product }),
    log: say,
  });
  try {
    await subscribe(world);
    const person = personIn(world, watchWires(world));
    const trials = names.map(trialNamed);
    const problems: string[] = [];
    const played = async ({ play }: Trial) =>
      play(person, world).catch((error: unknown) => void problems.push(String(error)));
    await Promise.all(trials.filter(({ kills }) => kills !== true).map(played));
    for (const trial of trials.filter(({ kills }) => kills === true)) await played(trial);
    const { violations, states, parked } = await judge(world, REST_WITHIN_MS);
    return { violations, states, parked, ...(problems.length === 0 ? {} : { problem: problems.join('; ') }) };
  } finally {
    await world.close();
  }
}
