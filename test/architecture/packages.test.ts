import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { importsOf } from './imports-of.js';
import { allFiles, readSource, ROOT } from './sources.js';

type Declared = Readonly<Record<string, string>>;
interface Manifest {
  readonly dependencies: Declared;
  readonly optionalDependencies?: Declared;
  readonly devDependencies: Declared;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const shipped = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
const all = new Set([...shipped, ...Object.keys(manifest.devDependencies)]);

/** `@scope/name/part` is of the package `@scope/name`. */
const packageOf = (to: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;
const isOurs = (to: string): boolean =>
  /^(?:(?:src|workflows|activities|test|bench|tools|dist)\/|[\w.-]+\.mts$)/.test(to);
const isOfNode = (to: string): boolean => to.startsWith('node:') || builtinModules.includes(to);

/** Packages that a file imports, types included, and that package.json does not declare for it. */
function undeclared({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  const isShipped = /^(src|workflows|activities)\//.test(path);
  return importsOf({ path, text })
    .filter(({ to }) => !isOurs(to) && !isOfNode(to))
    .filter(({ to, typeOnly }) => {
      const name = packageOf(to);
      // Types of a package without any of its own are in the package that is named after it, which only we need.
      return !(isShipped && !typeOnly ? shipped : all).has(name);
    })
    .map(({ to }) => `${path}: ${to}`);
}

describe('package.json', () => {
  it('declares every package that a file imports: what ships needs dependencies, types and tests may have devDependencies', () => {
    const files = allFiles().filter((path) =>
      /^(src|workflows|activities|test|bench|tools)\/.*\.[cm]?[tj]s$/.test(path),
    );
    expect(files.length).toBeGreaterThan(900);
    expect(files.map(readSource).flatMap(undeclared)).toEqual([]);
  });

  it.each([
    ['an undeclared package', 'src/x.ts', "import x from 'not-declared/part';"],
    ['the types of an undeclared package', 'src/x.ts', "import type { X } from '@not/declared';"],
    ['a type by import()', 'src/x.ts', "export type X = import('not-declared').X;"],
    ['a value of a devDependency in what ships', 'src/x.ts', "import { assert } from 'fast-check';"],
    ['an undeclared package that a test imports', 'test/x.test.ts', "const x = await import('not-declared');"],
  ])('is found to lack %s', (_what, path, text) => {
    expect(undeclared({ path, text })).toHaveLength(1);
  });

  it('is not found to lack Node, our own files, and what it declares', () => {
    const text =
      "import 'node:fs'; import './y.js'; import { z } from 'zod'; import type { Client } from '@temporalio/client';";
    expect(undeclared({ path: 'src/x.ts', text })).toEqual([]);
    expect(undeclared({ path: 'test/x.ts', text: "import { assert } from 'fast-check';" })).toEqual([]);
  });
});
