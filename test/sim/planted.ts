import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/package-root.js';
import { bundleOf, copyOfSources, plant } from '../harness/planted.js';
import { isInWorkflows } from '../plants/index.js';
import type { PlantedBug } from './plants.js';
import type * as simulation from './simulate.js';
import type * as workflows from './workflows.js';

export interface PlantedSimulation {
  /** One run with the bug, and with all that it needs. */
  readonly simulate: (options: Omit<simulation.SimOptions, 'vms' | 'plant'>) => Promise<simulation.SimResult>;
  /** Removes the copy of the sources, if there is one. */
  readonly close: () => void;
}

/**
 * @param bundle path of the workflows' bundle as it is
 * @param heard each pair of step and result, if that bundle reports them
 */
export async function simulationWith(
  bug: PlantedBug,
  bundle: string,
  heard?: (pair: string) => void,
): Promise<PlantedSimulation> {
  const { plants, plant: dependency, kind, ending, repeatMode, careless, weather } = bug;
  const copy = plants === undefined ? undefined : copyOfSources();
  const close = () => copy !== undefined && rmSync(copy, { recursive: true, force: true });
  try {
    if (copy !== undefined) plant(copy, ...(plants ?? []));
    // What changes the workflows alone is in their bundle.
    const sources = copy === undefined || plants?.every(isInWorkflows) === true ? packageRoot() : copy;
    const from = (file: string) => import(pathToFileURL(join(sources, 'test', 'sim', file)).href);
    const { simulate } = (await from('simulate.ts')) as typeof simulation;
    const { reporting, workflowsOf } = (await from('workflows.ts')) as typeof workflows;
    const isOtherBundle = copy !== undefined && plants?.some(isInWorkflows) === true;
    const vms = reporting(workflowsOf(isOtherBundle ? await bundleOf(copy) : bundle), heard);
    const needed = { kind, ending, repeatMode, careless, weather };
    return { simulate: (options) => simulate({ ...needed, ...options, vms, plant: dependency }), close };
  } catch (error) {
    close();
    throw error;
  }
}
