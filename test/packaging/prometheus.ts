import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';

const folder = join(packageRoot(), 'tools', 'observability');

/** Debian's package `prometheus`; in CI it must be there. */
export function hasPrometheus(): boolean {
  const isHere = (process.env['PATH'] ?? '').split(':').some((path) => existsSync(join(path, 'prometheus')));
  if (!isHere && process.env['TEST_IN_CI'] === '1')
    throw new Error('prometheus is missing: apt-get install prometheus');
  return isHere;
}

export interface Evaluated {
  readonly name: string;
  readonly health: string;
  readonly state: 'inactive' | 'pending' | 'firing';
}

interface PrometheusOptions {
  /** A folder for it alone. */
  readonly home: string;
  readonly ports: Readonly<Record<'gateway' | 'worker' | 'prometheus', number>>;
  /** The alert whose condition needs to hold for two seconds only. */
  readonly firesSoon: string;
}

/**
 * On our own configuration and rules, with the addresses of this test, and a shorter pace: of scrapes, and of the alert
 * that a test makes fire. How long the rules wait is what test/deployment/alerts.test.ts checks.
 */
export async function startPrometheus({ home, ports, firesSoon }: PrometheusOptions) {
  const url = (path: string) => `http://127.0.0.1:${ports.prometheus}${path}`;
  await mkdir(home);
  const given = await readFile(join(folder, 'prometheus.yml'), 'utf8');
  const config = given
    .replaceAll('15s', '1s')
    .replace('127.0.0.1:8400', `127.0.0.1:${ports.gateway}`)
    .replace('127.0.0.1:8403', `127.0.0.1:${ports.worker}`);
  await writeFile(join(home, 'prometheus.yml'), config);
  await writeFile(join(home, 'viewer-token'), 'dev-token');
  const rules = await readFile(join(folder, 'alerts.yml'), 'utf8');
  const quickRules = rules.replace(new RegExp(`(alert: ${firesSoon}\\n[^]+?\\bfor: )\\w+`), '$12s');
  expect(quickRules).not.toBe(rules);
  await writeFile(join(home, 'alerts.yml'), quickRules);
  const listen = `--web.listen-address=127.0.0.1:${ports.prometheus}`;
  const child = spawn('prometheus', ['--config.file=prometheus.yml', '--storage.tsdb.path=data', listen], {
    cwd: home,
    stdio: 'ignore',
  });
  const ask = async (path: string): Promise<unknown> => (await fetch(url(path))).json();
  return {
    child,
    async query(expr: string): Promise<string> {
      return JSON.stringify(await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`));
    },
    /** Labels of each series since it started. @throws Error that says what is wrong with the expression */
    async range(expr: string): Promise<readonly Readonly<Record<string, string>>[]> {
      const now = Date.now() / 1_000;
      const asked = new URLSearchParams({ query: expr, start: String(now - 600), end: String(now), step: '1' });
      const answer = (await ask(`/api/v1/query_range?${asked.toString()}`)) as {
        error?: string;
        data?: { result: { metric: Record<string, string> }[] };
      };
      if (answer.data === undefined) throw new Error(`${expr}: ${answer.error}`);
      return answer.data.result.map(({ metric }) => metric);
    },
    async rules(): Promise<readonly Evaluated[]> {
      const answer = await ask('/api/v1/rules').catch(() => undefined);
      const { groups } = (answer as { data: { groups: { rules: Evaluated[] }[] } } | undefined)?.data ?? { groups: [] };
      return groups.flatMap((group) => group.rules);
    },
  };
}
