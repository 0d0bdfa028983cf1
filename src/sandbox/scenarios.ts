import type { Database } from './database.js';

/** What control asked for: how the money operation with this reference ends. */
export interface Scenario {
  readonly ending: string;
  /** For endings that refuse so often and then go on. */
  readonly times?: number | undefined;
}

export interface Scenarios {
  get(reference: string): Scenario | undefined;
  /** Inside `database.write`. */
  set(reference: string, scenario: Scenario): void;
  list(): readonly (Scenario & { readonly reference: string })[];
}

export function createScenarios(deps: { database: Database }): Scenarios {
  const { database } = deps;
  return {
    get(reference) {
      const row = database.get<{ scenario: string }>('SELECT scenario FROM scenarios WHERE reference = ?', reference);
      return row && (JSON.parse(row.scenario) as Scenario);
    },
    set(reference, scenario) {
      database.run(
        `INSERT INTO scenarios (reference, scenario) VALUES (?, ?)
         ON CONFLICT (reference) DO UPDATE SET scenario = excluded.scenario`,
        reference,
        JSON.stringify(scenario),
      );
    },
    list: () =>
      database
        .all<{ reference: string; scenario: string }>('SELECT reference, scenario FROM scenarios')
        .map((row) => ({ reference: row.reference, ...(JSON.parse(row.scenario) as Scenario) })),
  };
}
