import type { Database } from './database.js';

/** The ending that control set for the money operation with this reference. */
interface Scenario {
  readonly ending: string;
  /** For endings that refuse this often and then succeed. */
  readonly times?: number | undefined;
}

export interface Scenarios {
  /** A scenario for this operation takes precedence over one for any operation with the reference. */
  get(reference: string, operation?: string): Scenario | undefined;
  /** Inside `database.write`. */
  set(reference: string, scenario: Scenario, operation?: string): void;
  list(): readonly (Scenario & { readonly reference: string; readonly operation: string | undefined })[];
}

export function createScenarios(deps: { database: Database }): Scenarios {
  const { database } = deps;
  const read = (key: string): Scenario | undefined => {
    const row = database.get<{ scenario: string }>('SELECT scenario FROM scenarios WHERE reference = ?', key);
    return row && (JSON.parse(row.scenario) as Scenario);
  };
  return {
    get: (reference, operation) => (operation && read(keyOf(reference, operation))) || read(reference),
    set(reference, scenario, operation) {
      database.run(
        `INSERT INTO scenarios (reference, scenario) VALUES (?, ?)
         ON CONFLICT (reference) DO UPDATE SET scenario = excluded.scenario`,
        keyOf(reference, operation),
        JSON.stringify(scenario),
      );
    },
    list: () =>
      database.all<{ reference: string; scenario: string }>('SELECT reference, scenario FROM scenarios').map((row) => {
        const [reference = '', operation] = row.reference.split(' ');
        return { reference, operation, ...(JSON.parse(row.scenario) as Scenario) };
      }),
  };
}

/** No reference has a space in it. */
const keyOf = (reference: string, operation: string | undefined) =>
  operation === undefined ? reference : `${reference} ${operation}`;
