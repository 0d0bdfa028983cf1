import { readFileSync } from 'node:fs';
import { Client } from 'pg';

/** What the server processes of a Postgres on this machine do, seen over a connection of our own. */
export interface Backends {
  /** CPU of all that serve clients now, ms, since each began; `all`: of those that serve the server itself, too. */
  cpuMs(which?: 'all'): Promise<number>;
  /** What all its databases hold, and what it has written to its log since its making, bytes. */
  bytes(): Promise<{ readonly byDatabase: Readonly<Record<string, number>>; readonly log: number }>;
  /** How many of them are at work, and the locks that some of those wait for: the key of an advisory one, else its type. */
  atWork(): Promise<{ readonly active: number; readonly waitedFor: readonly string[] }>;
  close(): Promise<void>;
}

const EVERY_OTHER = 'FROM pg_stat_activity WHERE pid <> pg_backend_pid()';
const OTHERS = `${EVERY_OTHER} AND backend_type = 'client backend'`;

export async function watchBackends(url: string): Promise<Backends> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    async cpuMs(which) {
      const { rows } = await client.query<{ pid: number }>(`SELECT pid ${which === 'all' ? EVERY_OTHER : OTHERS}`);
      return rows.reduce((sum, { pid }) => sum + onCpuMs(pid), 0);
    },
    async bytes() {
      const sizes = client.query<{ name: string; bytes: string }>(
        'SELECT datname AS name, pg_database_size(oid) AS bytes FROM pg_database',
      );
      const written = client.query<{ bytes: string }>(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`);
      return {
        byDatabase: Object.fromEntries((await sizes).rows.map(({ name, bytes }) => [name, Number(bytes)])),
        log: Number((await written).rows[0]?.bytes),
      };
    },
    async atWork() {
      const { rows } = await client.query<{ lock: string | null }>(
        `SELECT CASE locktype WHEN 'advisory' THEN (classid::bigint << 32 | objid::bigint)::text ELSE locktype END AS lock
           FROM (SELECT pid ${OTHERS} AND state = 'active') AS busy
           LEFT JOIN pg_locks ON pg_locks.pid = busy.pid AND NOT granted`,
      );
      return { active: rows.length, waitedFor: rows.flatMap(({ lock }) => lock ?? []) };
    },
    close: () => client.end(),
  };
}

/** By the scheduler, to the nanosecond: a short stretch is too short for what counts in hundredths of a second. */
function onCpuMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    // It ended between the question and now.
    return 0;
  }
}
