import { describe, expect, it } from '@jest/globals';
import { cycles } from './cycles.js';
import { importViolations, RULES } from './import-rules.js';
import { importsOf, readsProcessEnv } from './imports-of.js';
import { shippedSources } from './sources.js';

const sources = shippedSources();

/** Files outside of src/config that read `process.env`, each with its reason. None is wanted. */
const MAY_READ_ENV: Readonly<Record<string, string>> = {};

describe('imports', () => {
  it('keep to the rules', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(importViolations(sources)).toEqual([]);
  });

  it('make no ring', () => {
    expect(cycles(sources)).toEqual([]);
  });

  it('leave process.env to src/config', () => {
    const readers = sources.filter(readsProcessEnv).map(({ path }) => path);
    expect(readers.filter((path) => !path.startsWith('src/config/') && !(path in MAY_READ_ENV))).toEqual([]);
    expect(readers).toContain('src/config/environment.ts');
  });

  it('are checked by rules that each have files to check', () => {
    const idle = RULES.filter(({ of }) => !sources.some(({ path }) => of.test(path)));
    expect(idle.map(({ of }) => String(of))).toEqual([]);
  });
});

describe('the check itself', () => {
  const violations = (path: string, text: string) => importViolations([{ path, text }]);

  it.each([
    ['contract/vocabulary imports anything', 'src/contract/vocabulary.ts', "import { z } from 'zod';"],
    [
      'flows/vocabulary imports anything',
      'src/protocol/vocabulary.ts',
      "import { X } from '../contract/vocabulary.js';",
    ],
    ['the contract imports axios', 'src/contract/bridge.ts', "import axios from 'axios';"],
    ['a workflow imports zod', 'workflows/engine/x.ts', "import { z } from 'zod';"],
    ['a workflow imports an activity by value', 'workflows/x.ts', "import { x } from '../activities/index.js';"],
    ['a workflow imports a schema', 'workflows/bridge/x.ts', "import { X } from '../../src/contract/bridge.js';"],
    ['a workflow re-exports a schema', 'workflows/x.ts', "export { X } from '../src/contract/bridge.js';"],
    ['a workflow imports Node', 'workflows/x.ts', "import { randomUUID } from 'node:crypto';"],
    ['a workflow imports later', 'workflows/x.ts', "const x = async () => import('axios');"],
    ['a type in braces, which stays an import', 'workflows/x.ts', "import { type Z } from 'zod';"],
    ['money imports more than big.js', 'src/money.ts', "import { join } from 'node:path';"],
    ['the client imports Temporal', 'src/service-client/send.ts', "import { log } from '@temporalio/activity';"],
    [
      'the client knows a type of the store',
      'src/service-client/x.ts',
      "import type { Store } from '../store/store.js';",
    ],
    ['the sandbox imports our client', 'src/sandbox/x.ts', "import { judge } from '../client/judge.js';"],
    ['the sandbox knows our types', 'src/sandbox/x.ts', "import type { Outcome } from '../client/outcome.js';"],
    [
      'the dev server imports our side of Temporal',
      'src/dev-server/x.ts',
      "import { X } from '../temporal/search-attributes.js';",
    ],
    ['the gateway calls the service', 'src/gateway/x.ts', "import { createServiceClient } from '../client/index.js';"],
    ['an activity reads the settings', 'activities/x.ts', "import { readSettings } from '../src/config/index.js';"],
    ['a folder without a rule', 'src/new-folder/x.ts', ''],
  ])('finds it when %s', (_, path, text) => {
    expect(violations(path, text)).toHaveLength(1);
  });

  it.each([
    ['workflows/x.ts', "import type { Activities } from '../activities/index.js';"],
    ['src/contract/openapi.ts', "import type { OpenAPIV3_1 } from 'openapi-types';"],
    ['src/service-client/x.ts', "import type { Duplex } from 'node:stream';"],
    ['workflows/x.ts', "// import axios from 'axios';\nconst text = \"import axios from 'axios'\";"],
  ])('lets %s pass with %s', (path, text) => {
    expect(violations(path, text)).toEqual([]);
  });

  it('reads static, dynamic, re-exported and required imports, and tells which of them are erased', () => {
    const text = `import a from './a.js'; import type { B } from '../b.js'; export * from 'c'; export type { D } from 'd';
      const e = await import('e'); const f = require('./f.cjs'); import './g.js';`;
    expect(importsOf({ path: 'src/x/y.ts', text })).toEqual([
      { to: 'src/x/a.ts', typeOnly: false },
      { to: 'src/b.ts', typeOnly: true },
      { to: 'c', typeOnly: false },
      { to: 'd', typeOnly: true },
      { to: 'e', typeOnly: false },
      { to: 'src/x/f.cts', typeOnly: false },
      { to: 'src/x/g.ts', typeOnly: false },
    ]);
  });

  it('finds a ring, of values and of types', () => {
    const file = (name: string, text: string) => ({ path: `src/${name}.ts`, text });
    const a = file('a', "import { b } from './b.js';");
    const c = file('c', "import { a } from './a.js';");
    expect(cycles([a, file('b', "import { c } from './c.js';"), c])).toEqual([
      'src/a.ts → src/b.ts → src/c.ts → src/a.ts',
    ]);
    const typed = file('b', "import type { C } from './c.js';");
    expect(cycles([a, typed, c])).toHaveLength(1);
    expect(cycles([a, typed, file('c', '')])).toEqual([]);
  });

  it('finds process.env, however it is written, but not in comments', () => {
    const reads = (text: string) => readsProcessEnv({ path: 'src/x.ts', text });
    expect(
      ["const a = process.env['A'];", "process['env'].A;", "import { env } from 'node:process';"].map(reads),
    ).toEqual([true, true, true]);
    expect(reads('/* process.env */ process.exit();')).toBe(false);
  });
});
