import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from './sources.js';

/** Files of a checkout with our settings of the linter, and the rule that each breaks; null: none. */
const CASES: readonly (readonly [path: string, text: string, rule: string | null])[] = [
  ['src/gateway/a.ts', "export const a = process.env['A'];", 'node(no-process-env)'],
  ['src/gateway/b.ts', "export const b = process['env'];", 'node(no-process-env)'],
  ['src/gateway/c.ts', "export { env } from 'node:process';", 'eslint(no-restricted-imports)'],
  ['activities/d.ts', "import { env } from 'process';\nexport const d = env;", 'eslint(no-restricted-imports)'],
  ['src/config/e.ts', "export const e = process.env['E'];", null],
  ['test/f.ts', "export const f = process.env['F'];", null],
  ['src/gateway/g.ts', 'export const g = process.pid; // process.env', null],
  ['src/store/h.ts', "import { i } from './i.js';\nexport const h = i;\nexport type H = 1;", 'import(no-cycle)'],
  ['src/store/i.ts', "import type { H } from './h.js';\nexport const i: H = 1;", 'import(no-cycle)'],
  ['workflows/j.ts', "import { k } from './k.js';\nexport const j = k;\nexport const l = 1;", 'import(no-cycle)'],
  ['workflows/k.ts', "import { l } from './j.js';\nexport const k = l;", 'import(no-cycle)'],
  ['src/store/m.ts', "import type { H } from './h.js';\nexport type M = H;", null],
];

describe('the linter, with our settings,', () => {
  let found: ReadonlyMap<string, string>;
  beforeAll(async () => {
    found = await lint();
  });

  it.each(CASES.filter(([, , rule]) => rule !== null))('finds in %s what it forbids: %j', (path, _text, rule) => {
    expect(found.get(path)).toBe(rule);
  });

  it.each(CASES.filter(([, , rule]) => rule === null))('lets %s pass with %j', (path) => {
    expect(found.get(path)).toBeUndefined();
  });
});

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

/** By the path of the file, the rule that it breaks. */
async function lint(): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'towline-lint-'));
  try {
    cpSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    for (const [path, text] of CASES) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `${text}\n`);
    }
    const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
    const output = await new Promise<string>((resolve) => {
      // It exits with 1, since it finds something.
      execFile(process.execPath, [oxlint, '--format', 'json', '.'], { cwd: folder }, (_, out) => resolve(out));
    });
    const { diagnostics } = JSON.parse(output) as Report;
    return new Map(diagnostics.map(({ filename, code }) => [filename.replaceAll('\\', '/'), code]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
