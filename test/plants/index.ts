import { plants as inActivities } from './in-activities.js';
import { plants as inClient } from './in-client.js';
import { plants as inGateway } from './in-gateway.js';
import { plants as inStore } from './in-store.js';
import { plants as inWorkflows } from './in-workflows.js';
import type { Plants } from './replaced.js';

const TABLES = {
  'in-activities': inActivities,
  'in-client': inClient,
  'in-gateway': inGateway,
  'in-store': inStore,
  'in-workflows': inWorkflows,
};
type Tables = typeof TABLES;

/** The name of a change that a bug consists of. */
export type PlantName = { [Table in keyof Tables]: keyof Tables[Table] }[keyof Tables];

export interface PlacedPlant {
  readonly name: PlantName;
  /** The file of this folder that it is in. */
  readonly table: string;
  readonly replaced: Plants[string];
}

export const PLANTS: readonly PlacedPlant[] = Object.entries(TABLES).flatMap(([table, plants]) =>
  Object.entries(plants as Plants).map(([name, replaced]) => ({ name: name as PlantName, table, replaced })),
);

export function plantNamed(name: PlantName): PlacedPlant {
  const found = PLANTS.find((plant) => plant.name === name);
  if (found === undefined) throw new TypeError(`there is no plant "${name}"`);
  return found;
}

/** Whether it changes the workflows' bundle. */
export const isInWorkflows = (name: PlantName): boolean => plantNamed(name).table === 'in-workflows';
