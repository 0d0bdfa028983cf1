import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { operations, type OperationName } from '../../src/contract/index.js';
import { flowOf, flows } from '../../src/flows/index.js';
import { FLOW_KINDS, workflowTypeOf, type FlowKind } from '../../src/protocol/vocabulary.js';
import * as workflows from '../../workflows/index.js';
import { flowKindsDocument } from './flow-kinds-document.js';
import { allFiles } from './sources.js';

/** What a kind is made of, by its name alone: README's recipe. */
const FILES: readonly ((kind: FlowKind) => string)[] = [
  (kind) => `src/flows/${kind}.ts`,
  (kind) => `workflows/${kind}.ts`,
  (kind) => `examples/${kind}.json`,
  (kind) => `test/kinds/${kind}.ts`,
];

describe('a flow kind', () => {
  it('has four files of its name, and no file belongs to an unknown kind', () => {
    const files = allFiles();
    const missing = FLOW_KINDS.flatMap((kind) => FILES.map((fileOf) => fileOf(kind))).filter((f) => !files.includes(f));
    expect(missing).toEqual([]);
    const ofNone = files
      .filter((path) => /^(examples\/[^/]+\.json|test\/kinds\/[^/]+\.ts)$/.test(path))
      .filter((path) => !FLOW_KINDS.some((kind) => FILES.some((fileOf) => fileOf(kind) === path)));
    expect(ofNone).toEqual([]);
  });

  it('has a line in workflows/index.ts', () => {
    const missing = FLOW_KINDS.filter((kind) => !(workflowTypeOf(kind) in workflows));
    expect(missing.map((kind) => `workflows/index.ts exports no ${workflowTypeOf(kind)}`)).toEqual([]);
  });

  it('has the same name in src/flows/kinds.ts and in its definition', () => {
    expect(Object.entries(flows).filter(([name, { kind }]) => kind !== name)).toEqual([]);
  });

  it('carries out operations that move money: each of them is of exactly one kind', () => {
    const carried = FLOW_KINDS.flatMap((kind) => Object.keys(flowOf(kind).carriesOut ?? {}));
    const money = (Object.keys(operations) as OperationName[]).filter((name) => operations[name].effect === 'money');
    expect(carried.toSorted()).toEqual(money.toSorted());
  });

  it('plays at npm start under a name that no other has', () => {
    const names = FLOW_KINDS.map((kind) => flowOf(kind).demo.name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('docs/flow-kinds.md', () => {
  it('has a row for each kind, as its definition has it', async () => {
    const document = new URL('../../docs/flow-kinds.md', import.meta.url);
    const computed = flowKindsDocument();
    if (process.env['WRITE_DOCS']) await writeFile(document, computed);
    expect(await readFile(document, 'utf8')).toBe(computed);
  });
});
