import { readFileSync } from 'node:fs';
import { Client } from 'pg';

/** What the server processes of a Postgres on this machine do, seen over a connection of our own. */
export interface Backends {
  /** CPU of all that serve clients now, ms, since each began. */
  cpuMs(): Promise<number>;
  /** How many of them are at work, and how many of those wait for a lock. */
  atWork(): Promise<{ readonly active: number; readonly waiting: number }>;
  close(): Promise<void>;
}

const OTHERS = `FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

export async function watchBackends(url: string): Promise<Backends> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    async cpuMs() {
      const { rows } = await client.query<{ pid: number }>(`SELECT pid ${OTHERS}`);
      return rows.reduce((sum, { pid }) => sum + onCpuMs(pid), 0);
    },
    async atWork() {
      const { rows } = await client.query<{ active: string; waiting: string }>(
        `SELECT count(*) AS active, count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting ${OTHERS} AND state = 'active'`,
      );
      return { active: Number(rows[0]?.active), waiting: Number(rows[0]?.waiting) };
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
