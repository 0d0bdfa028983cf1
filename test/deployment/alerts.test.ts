import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package-root.js';

const folder = join(packageRoot(), 'tools', 'observability');
const read = (...path: string[]) => readFileSync(join(packageRoot(), ...path), 'utf8');

interface Case {
  readonly alertname: string;
  /** Such as `18m`. */
  readonly eval_time: string;
  /** Absent or empty: the alert must not fire then. */
  readonly exp_alerts?: readonly unknown[];
}
/** The cases of each test of the rules, in their order. */
const tested = (
  parse(read('tools', 'observability', 'alerts.test.yml')) as {
    readonly tests: readonly { readonly alert_rule_test: readonly Case[] }[];
  }
).tests.map((one) => one.alert_rule_test);

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const rules = (
  parse(read('tools', 'observability', 'alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap((group) => group.rules);

/** On a machine without it `promtool` (Debian: prometheus) is missed; in CI it must be there. */
function promtool(...args: string[]): string {
  try {
    return execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT' && process.env['TEST_IN_CI'] !== '1') return 'SUCCESS: not asked, promtool is not here';
    throw new Error(`promtool ${args.join(' ')}: ${stderr || code}`, { cause: error });
  }
}

/** Whether one test has a case in which the alert fires, and a later one in which it does not. */
function firesAndClears(cases: readonly Case[], name: string): boolean {
  const ofAlert = cases.filter(({ alertname }) => alertname === name);
  const fires = ({ exp_alerts: expected = [] }: Case) => expected.length > 0;
  return ofAlert.some(
    (one) => fires(one) && ofAlert.some((later) => !fires(later) && minutesOf(later) > minutesOf(one)),
  );
}

/** @throws RangeError if the time is not in whole minutes */
function minutesOf({ eval_time: time }: Case): number {
  if (!/^\d+m$/.test(time)) throw new RangeError(`eval_time must be in minutes: ${time}`);
  return Number.parseInt(time, 10);
}

describe('the alert rules', () => {
  it('are rules, each of which fires on its fault and clears', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toContain('SUCCESS');
    expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    const names = rules.map(({ alert }) => alert);
    expect(names.filter((name) => !tested.some((cases) => firesAndClears(cases, name)))).toEqual([]);
  });

  it('would be missed without a case in which they fire, or without a later one in which they are clear', () => {
    const clear = { alertname: 'A', eval_time: '8m' };
    const fires = { alertname: 'A', eval_time: '9m', exp_alerts: [{}] };
    const clearLater = { alertname: 'A', eval_time: '10m', exp_alerts: [] };
    expect(firesAndClears([clear, fires, clearLater], 'A')).toBe(true);
    for (const cases of [
      [clear, fires],
      [clear, clearLater],
      [fires, { ...clearLater, alertname: 'B' }],
    ])
      expect(firesAndClears(cases, 'A')).toBe(false);
  });

  it('each lead to a section of the runbook of its name', () => {
    const sections = new Set([...read('docs', 'runbook.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name));
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
      expect(sections).toContain(alert);
      expect(['page', 'ticket']).toContain(labels.severity);
    }
  });
});
