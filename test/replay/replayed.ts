import { Worker, type ReplayResult, type ReplayWorkerOptions } from '@temporalio/worker';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { pairSinks } from '../harness/pairs.js';
import type { Recording } from './histories.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';

/** Replays on the bundle of the present sources, each under its own workflow id, with its payloads opened. */
export const replayed = (recordings: readonly Recording[]): Promise<readonly ReplayResult[]> =>
  replayedOn({ workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' } }, recordings);

/** The same on a bundle that reports its steps and results (test/harness/pairs.ts). */
export async function pairsOf(recordings: readonly Recording[], codePath: string) {
  const pairs = new Set<string>();
  const results = await replayedOn({ workflowBundle: { codePath }, sinks: pairSinks(pairs) }, recordings);
  return { results, pairs };
}

async function replayedOn(
  bundle: Pick<ReplayWorkerOptions, 'workflowBundle' | 'sinks'>,
  recordings: readonly Recording[],
): Promise<readonly ReplayResult[]> {
  const results: ReplayResult[] = [];
  const options = {
    ...bundle,
    dataConverter: createDataConverter({ keyring: RECORDING_KEYS, namespace: RECORDING_NAMESPACE }),
    namespace: RECORDING_NAMESPACE,
  };
  for await (const result of Worker.runReplayHistories(options, recordings)) results.push(result);
  return results;
}

/** One line for each that does not replay. */
export const broken = (results: readonly ReplayResult[]): readonly string[] =>
  results.flatMap(({ workflowId, error }) => (error ? [`${workflowId}: ${error.message}`] : []));
