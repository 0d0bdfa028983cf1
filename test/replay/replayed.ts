import { Worker, type ReplayResult } from '@temporalio/worker';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import type { Recording } from './histories.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';

/** Replays on the bundle of the present sources, each under its own workflow id, with its payloads opened. */
export async function replayed(recordings: readonly Recording[]): Promise<readonly ReplayResult[]> {
  const results: ReplayResult[] = [];
  const options = {
    workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
    dataConverter: createDataConverter({ keyring: RECORDING_KEYS, namespace: RECORDING_NAMESPACE }),
    namespace: RECORDING_NAMESPACE,
  };
  for await (const result of Worker.runReplayHistories(options, recordings)) results.push(result);
  return results;
}

/** One line for each that does not replay. */
export const broken = (results: readonly ReplayResult[]): readonly string[] =>
  results.flatMap(({ workflowId, error }) => (error ? [`${workflowId}: ${error.message}`] : []));
