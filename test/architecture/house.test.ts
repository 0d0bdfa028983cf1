import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { importsOf } from './imports-of.js';
import { shippedSources, type SourceFile } from './sources.js';

const DOCUMENT = new URL('../../CONTRIBUTING.md', import.meta.url);

/** `src/gateway/http/server.ts` is in the folder `gateway`; a file of src itself, in none. */
function folderOf(path: string): string | undefined {
  const [top = '', next, ...rest] = path.split('/');
  if (top !== 'src') return top;
  return rest.length > 0 ? next : undefined;
}

/** Which folders each folder imports; types count. */
function importsByFolder(sources: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const source of sources) {
    const from = folderOf(source.path);
    if (from === undefined) continue;
    const imports = found.get(from) ?? new Set<string>();
    found.set(from, imports);
    for (const { to } of importsOf(source)) {
      const folder = /^(src|workflows|activities)\//.test(to) ? folderOf(to) : undefined;
      if (folder !== undefined && folder !== from) imports.add(folder);
    }
  }
  return found;
}

/** An arrow is left out if others lead there, too. @throws RangeError if folders import each other in a ring */
function pictureOf(imports: ReadonlyMap<string, ReadonlySet<string>>): string {
  const reached = (from: string): ReadonlySet<string> =>
    new Set([...(imports.get(from) ?? [])].flatMap((to) => [to, ...reached(to)]));
  const arrows = [...imports].flatMap(([from, direct]) => {
    const behind = new Set([...direct].flatMap((to) => [...reached(to)]));
    return [...direct].filter((to) => !behind.has(to)).map((to) => `  ${from} --> ${to}`);
  });
  return ['```mermaid', 'flowchart TB', ...arrows.toSorted(), '```'].join('\n');
}

test('CONTRIBUTING.md has the picture of the folders as they import each other', () => {
  const picture = pictureOf(importsByFolder(shippedSources()));
  const text = readFileSync(DOCUMENT, 'utf8');
  if (process.env['WRITE_DOCS']) writeFileSync(DOCUMENT, text.replace(/```mermaid\n[^`]*```/, picture));
  expect(readFileSync(DOCUMENT, 'utf8')).toContain(picture);
});

test('a folder that another one reaches over a third has no arrow of its own', () => {
  const imports = new Map([
    ['gateway', new Set(['store', 'protocol'])],
    ['store', new Set(['protocol'])],
    ['protocol', new Set<string>()],
  ]);
  expect(pictureOf(imports).split('\n')).toEqual([
    '```mermaid',
    'flowchart TB',
    '  gateway --> store',
    '  store --> protocol',
    '```',
  ]);
});
