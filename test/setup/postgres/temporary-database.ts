import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** The Postgres that the global setup started; undefined if there is none. */
export const clusterUrl = process.env['TEST_DATABASE_URL'] || undefined;

/** A database of its own in the cluster of the tests. */
export interface TemporaryDatabase {
  readonly name: string;
  readonly url: string;
  /** As its owner, in addition to what a test does with it. */
  readonly query: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  /** Open connections are cut. */
  readonly drop: () => Promise<void>;
}

/** @param template the database that it is a copy of. @default an empty one */
export async function makeTemporaryDatabase(template?: string): Promise<TemporaryDatabase> {
  if (clusterUrl === undefined) throw new Error('The tests have no Postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(clusterUrl);
  url.pathname = name;
  await ask(clusterUrl, `CREATE DATABASE ${name} ${template === undefined ? '' : `TEMPLATE ${template}`}`);
  return {
    name,
    url: url.href,
    query: (sql) => ask(url.href, sql),
    drop: async () => void (await ask(clusterUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
