import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package-root.js';

const folder = join(packageRoot(), 'tools', 'observability');
const read = (...path: string[]) => readFileSync(join(packageRoot(), ...path), 'utf8');

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
    if (code === 'ENOENT' && process.env['TOWLINE_CI'] !== '1') return 'SUCCESS: not asked, promtool is not here';
    throw new Error(`promtool ${args.join(' ')}: ${stderr || code}`, { cause: error });
  }
}

describe('the alert rules', () => {
  it('are rules, each of which fires on its fault and clears', () => {
    expect(promtool('check', 'rules', 'alerts.yml')).toContain('SUCCESS');
    expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    const tested = read('tools', 'observability', 'alerts.test.yml');
    const fired = [...tested.matchAll(/alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:/g)].map(([, name]) => name);
    expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)));
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
