import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import { HISTORIES, historyToText } from './histories.js';
import { endingOf } from './scene.js';
import { scenes } from './scenes.js';
import { openStage, type Stage } from './stage.js';

const AT_ONCE = 4;

/**
 * Plays scenes and writes the history of each of their runs. Existing ones stay, because they hold what flows of
 * earlier versions did; those without a scene are deleted.
 * @param anew names of scenes to record again. @default those that have no history yet
 * @throws Error if a scene ends otherwise than it should: it has no history then, and the others have theirs
 */
export async function recordHistories(
  address: string,
  log: (line: string) => void,
  anew: readonly string[] = [],
): Promise<void> {
  const recorded = new Set((await recordingFiles()).map(sceneOf));
  const names = anew.length > 0 ? anew : Object.keys(scenes).filter((name) => !recorded.has(name));
  log(names.length === 0 ? 'every scene has its history' : `recording ${names.length} scenes`);
  const failed: unknown[] = [];
  for (const [isLive, live] of [
    [false, []],
    [true, LIVE_OPERATIONS],
  ] as const) {
    const here = names.filter((name) => (scenes[name]?.isLive === true) === isLive);
    if (here.length === 0) continue;
    const stage = await openStage(address, live);
    try {
      const written = await inTurns(here, async (name) => {
        try {
          const runs = await record(stage, name);
          log(`${name}: ${runs.map(({ events }) => `${events} events`).join(', ')}`);
          return runs;
        } catch (error) {
          failed.push(error);
          return [];
        }
      });
      await replaceFiles(written.flat());
    } finally {
      await stage.close();
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} scenes ended otherwise than they should`);
}

interface Recorded {
  readonly file: string;
  readonly text: string;
  readonly events: number;
}

async function record(stage: Stage, name: string): Promise<readonly Recorded[]> {
  const scene = scenes[name];
  if (scene === undefined) throw new TypeError(`no scene ${name}`);
  const flow = await scene.play(stage, name);
  const { state, outcome } = await endingOf(stage, flow);
  if (state !== scene.ends || (outcome?.reason ?? undefined) !== scene.reason) {
    throw new Error(`${name} ended as ${state} (${outcome?.reason}), not as ${scene.ends} (${scene.reason})`);
  }
  const runs: Recorded[] = [];
  for (let runId: string | undefined = flow.firstExecutionRunId; runId !== undefined;) {
    const history = await stage.client.workflow.getHandle(flow.workflowId, runId).fetchHistory();
    const last = history.events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
    const part = runId === undefined && runs.length === 0 ? '' : `.run-${runs.length + 1}`;
    const text = historyToText(history);
    runs.push({ file: `${name}${part}.json`, text, events: history.events?.length ?? 0 });
  }
  return runs;
}

async function replaceFiles(recorded: readonly Recorded[]): Promise<void> {
  await mkdir(HISTORIES, { recursive: true });
  const again = new Set(recorded.map(({ file }) => sceneOf(file)));
  for (const file of await recordingFiles()) {
    if (again.has(sceneOf(file)) || !(sceneOf(file) in scenes)) await rm(join(HISTORIES, file));
  }
  for (const { file, text } of recorded) await writeFile(join(HISTORIES, file), text);
}

async function recordingFiles(): Promise<readonly string[]> {
  const files = await readdir(HISTORIES).catch(() => []);
  return files.filter((file) => file.endsWith('.json'));
}

const sceneOf = (file: string) => file.replace(/(\.run-\d+)?\.json$/, '');

/** A few at a time: a busy machine would make quotes expire that should not. */
async function inTurns<T>(names: readonly string[], work: (name: string) => Promise<T>): Promise<readonly T[]> {
  const queue = [...names];
  const done: T[] = [];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) done.push(await work(name));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return done;
}
