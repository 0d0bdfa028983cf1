import { describe, expect, it } from '@jest/globals';
import { importViolations, RULES } from './import-rules.js';
import { importsOf } from './imports-of.js';
import { shippedSources } from './sources.js';

const sources = shippedSources();

describe('the rules of who imports whom', () => {
  it('are kept by every file of src, workflows and activities', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(importViolations(sources)).toEqual([]);
  });

  it('each have files to check', () => {
    const idle = RULES.filter(({ of }) => !sources.some(({ path }) => of.test(path)));
    expect(idle.map(({ of }) => String(of))).toEqual([]);
  });

  const violations = (path: string, text: string) => importViolations([{ path, text }]);

  it.each([
    ['contract/vocabulary imports anything', 'src/contract/vocabulary.ts', "import { z } from 'zod';"],
    [
      'protocol imports anything outside of it',
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
  ])('find %s', (_, path, text) => {
    expect(violations(path, text)).toHaveLength(1);
  });

  it.each([
    ['workflows/x.ts', "import type { Activities } from '../activities/index.js';"],
    ['src/contract/openapi.ts', "import type { OpenAPIV3_1 } from 'openapi-types';"],
    ['src/service-client/x.ts', "import type { Duplex } from 'node:stream';"],
    ['workflows/x.ts', "// import axios from 'axios';\nconst text = \"import axios from 'axios'\";"],
  ])('let %s pass with %s', (path, text) => {
    expect(violations(path, text)).toEqual([]);
  });

  it('read static, dynamic, re-exported and required imports, and know which of them are erased', () => {
    const text = `import a from './a.js'; import type { B } from '../b.js'; export * from 'c'; export type { D } from 'd';
      const e = await import('e'); const f = require('./f.cjs'); import './g.js'; type H = import('h').H;`;
    expect(importsOf({ path: 'src/x/y.ts', text })).toEqual([
      { to: 'src/x/a.ts', typeOnly: false },
      { to: 'src/b.ts', typeOnly: true },
      { to: 'c', typeOnly: false },
      { to: 'd', typeOnly: true },
      { to: 'e', typeOnly: false },
      { to: 'src/x/f.cts', typeOnly: false },
      { to: 'src/x/g.ts', typeOnly: false },
      { to: 'h', typeOnly: true },
    ]);
  });
});

describe('a command that only talks to a gateway', () => {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  /** The packages that a file loads, by itself and by what it imports. */
  function packagesOf(path: string, seen = new Set<string>()): ReadonlySet<string> {
    const file = byPath.get(path);
    if (file === undefined) return new Set([path]);
    if (seen.has(path)) return new Set();
    seen.add(path);
    return new Set(importsOf(file).flatMap(({ to, typeOnly }) => (typeOnly ? [] : [...packagesOf(to, seen)])));
  }

  it.each(['list', 'show', 'wait', 'watch', 'start', 'order-command', 'events', 'callbacks', 'give'])(
    'loads neither Temporal nor a server nor a store: %s',
    (name) => {
      const packages = [...packagesOf(`src/cli/commands/${name}.ts`)];
      expect(packages).toContain('zod');
      expect(packages.filter((one) => /^(@temporalio|@grpc|fastify|pino|pg|libsql)/.test(one))).toEqual([]);
    },
  );
});
