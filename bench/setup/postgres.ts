import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startTestCluster, type TestCluster } from '../../test/setup/postgres/test-cluster.js';

/** A Postgres for the benchmark; undefined, with a message, if none is installed. */
export const startPostgres = (log: (line: string) => void): Promise<TestCluster | undefined> =>
  startTestCluster(process.env, log);

/** An empty database in it. @returns its URL */
export async function makeDatabase(cluster: string): Promise<string> {
  const client = new Client({ connectionString: cluster });
  await client.connect();
  const name = `bench_${randomBytes(8).toString('hex')}`;
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(cluster);
  url.pathname = name;
  return url.href;
}
