import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { HISTORIES, historyToJson } from './histories.js';
import { endingOf } from './scene.js';
import { scenes } from './scenes.js';
import { openStage, type Stage } from './stage.js';

const AT_ONCE = 4;

/**
 * Plays every scene and writes the history of each of its runs, in the place of those that were there.
 * @throws Error where a scene ends otherwise than it should: then nothing is written
 */
export async function recordHistories(address: string, bundlePath: string, log: (line: string) => void): Promise<void> {
  const stage = await openStage(address, bundlePath);
  try {
    const written = await inTurns(Object.keys(scenes), async (name) => {
      const recorded = await record(stage, name);
      log(`${name}: ${recorded.map(({ events }) => `${events} events`).join(', ')}`);
      return recorded;
    });
    await replaceFiles(written.flat());
  } finally {
    await stage.close();
  }
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
    const text = await format(JSON.stringify(historyToJson(history)), { parser: 'json', printWidth: 120 });
    runs.push({ file: `${name}${part}.json`, text, events: history.events?.length ?? 0 });
  }
  return runs;
}

async function replaceFiles(recorded: readonly Recorded[]): Promise<void> {
  await mkdir(HISTORIES, { recursive: true });
  for (const file of await readdir(HISTORIES)) if (file.endsWith('.json')) await rm(join(HISTORIES, file));
  for (const { file, text } of recorded) await writeFile(join(HISTORIES, file), text);
}

/** A few at a time: a busy machine would make quotes expire that should not. */
async function inTurns<T>(names: readonly string[], work: (name: string) => Promise<T>): Promise<readonly T[]> {
  const queue = [...names];
  const done: T[] = [];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) done.push(await work(name));
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return done;
}
