import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

/** A bug as a change of one text. */
export interface Planted {
  readonly name: string;
  readonly file: string;
  /** A text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Files known to git and new ones, as they are here, with the packages and the build of this checkout. */
export function copyOfSources(): string {
  const root = packageRoot();
  const copy = mkdtempSync(join(tmpdir(), 'towline-planted-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of [...files.toString('utf8').split('\0').filter(Boolean), 'dist']) {
    cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}

/** Plants a bug in a copy of the sources. @returns how to remove it */
export function plant(copy: string, { name, file, find, replace }: Planted): () => void {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`${name}: its text is ${parts.length - 1} times in ${file}. Rewrite it for the code as it is.`);
  }
  writeFileSync(path, parts.join(replace));
  return () => writeFileSync(path, text);
}
