import type { Database } from './database.js';

/** Small JSON values by name, on disk: settings, clock, adversary. Read from memory, since every request asks. */
export interface Notes {
  read<T>(name: string, otherwise: T): T;
  /** Inside `database.write`. */
  write(name: string, value: unknown): void;
  /** Forgets what is in memory, after the table was emptied. */
  forget(): void;
}

export function createNotes(database: Database): Notes {
  const known = new Map<string, unknown>();
  for (const row of database.all<{ name: string; value: string }>('SELECT name, value FROM notes')) {
    known.set(row.name, JSON.parse(row.value));
  }
  return {
    read: <T>(name: string, otherwise: T) => (known.has(name) ? (known.get(name) as T) : otherwise),
    write(name, value) {
      database.run(
        'INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        JSON.stringify(value),
      );
      known.set(name, value);
    },
    forget: () => known.clear(),
  };
}
