import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';

const tools = join(packageRoot(), 'tools');
const modules = readdirSync(tools).filter((name) => existsSync(join(tools, name, 'go.mod')));

/** What a go.mod requires, as `path version`; a replaced module is what replaces it. */
function required(goMod: string): readonly string[] {
  const replaced = new Map(
    [...goMod.matchAll(/^replace (\S+)(?: v\S+)? => (\S+) (v\S+)/gm)].map(([, from, to, version]) => [
      from,
      `${to} ${version}`,
    ]),
  );
  const listed = [...goMod.matchAll(/^\s*(?:require )?(\S+\.\S+) (v\S+)(?: \/\/.*)?$/gm)];
  return listed.map(([, path, version]) => replaced.get(path) ?? `${path} ${version}`);
}

describe('a Go module that pins programs', () => {
  it.each(modules)(
    'has the hash of all that it requires, so that a machine without a cache can build it: %s',
    (name) => {
      const [goMod, goSum] = ['go.mod', 'go.sum'].map((file) => readFileSync(join(tools, name, file), 'utf8'));
      const hashed = new Set(goSum!.split('\n').map((line) => line.split(' ').slice(0, 2).join(' ')));
      const all = required(goMod!);
      expect(all.length).toBeGreaterThan(20);
      expect(all.filter((one) => !hashed.has(one))).toEqual([]);
    },
  );

  it('is found for Temporal and for Helm', () => {
    expect(modules.toSorted()).toEqual(['helm', 'temporal']);
  });
});
