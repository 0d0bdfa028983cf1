import { describe, expect, it } from '@jest/globals';
import { importsOf } from './imports-of.js';
import { moduleState, reachedFrom } from './module-state.js';
import { shippedSources } from './sources.js';

/** A worker loads them once, for all of its workflows: what one of them remembered there, another one would find. */
describe('a module that workflows load', () => {
  const modules = reachedFrom('workflows/index.ts', shippedSources());

  it('is one of the workflows, or one of the few that they share with others', () => {
    const paths = modules.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['workflows/bridge-transfer.ts', 'src/money.ts']));
    expect(paths).not.toContain('activities/index.ts');
    expect(paths.length).toBeGreaterThan(40);
  });

  it('imports no package by value but the SDK of workflows and big.js', () => {
    const packages = modules
      .flatMap(importsOf)
      .filter(({ to, typeOnly }) => !typeOnly && !/^(src|workflows)\//.test(to))
      .map(({ to }) => to);
    expect([...new Set(packages)].toSorted()).toEqual(['@temporalio/workflow', 'big.js']);
  });

  it('holds no state', () => {
    expect(modules.flatMap(moduleState)).toEqual([]);
  });
});

describe('the rule that a module of workflows holds no state', () => {
  const found = (text: string) => moduleState({ path: 'x.ts', text });

  it.each([
    'let seen = 0;',
    'export let seen: number | undefined;',
    'const seen = new Map<string, number>();',
    'export const seen = new Set();',
    'const seen: string[] = [];',
    'const seen: Record<string, string> = {};',
  ])('finds %s', (text) => {
    expect(found(text)).toEqual(['x.ts: seen']);
  });

  it.each([
    'const KNOWN: ReadonlySet<string> = new Set(["a"]);',
    'const LIMITS = { most: 1 };',
    'export const names = ["a"] as const;',
    'function count() { let n = 0; const all = new Map(); return all.size + n; }',
  ])('lets %s pass', (text) => {
    expect(found(text)).toEqual([]);
  });
});
