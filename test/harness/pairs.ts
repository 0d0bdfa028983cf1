import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectedSinks } from '@temporalio/worker';
import type { PairSinks } from '../plants/in-workflows.js';
import type { PlantName } from '../plants/index.js';
import { bundleOf, copyOfSources, plant } from './planted.js';

/** The workflows as they are, in a bundle that reports the shape of each step and result that they learn. */
export interface ReportingBundle {
  readonly codePath: string;
  readonly close: () => void;
}

/** @param plants bugs that are planted in it besides */
export async function reportingBundle(...plants: readonly PlantName[]): Promise<ReportingBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-pairs-'));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const copy = copyOfSources();
  try {
    plant(copy, 'reports-pairs', ...plants);
    return { codePath: await bundleOf(copy, folder), close };
  } catch (error) {
    close();
    throw error;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Of a replay everything is heard again. */
export const pairSinks = (pairs: Set<string>): InjectedSinks<PairSinks> => ({
  pairs: { heard: { fn: (_, shape) => void pairs.add(shape), callDuringReplay: true } },
});
