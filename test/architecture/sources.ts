import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One file of the project; `path` is relative to its root, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NOT_OURS = /^(node_modules|dist|coverage|__pycache__|\.git|\.env.*|\.towline.*)$|\.log$/;

/** Every file of the checkout that is ours. Found by walking, not through git: an unpacked archive has no git. */
export function allFiles(folder = ''): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !NOT_OURS.test(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? allFiles(path) : [path];
    });
}

export function readSource(path: string): SourceFile {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** What ships: TypeScript of `src`, `workflows` and `activities`. */
export function shippedSources(): readonly SourceFile[] {
  return allFiles()
    .filter((path) => /^(src|workflows|activities)\/.*\.c?ts$/.test(path))
    .map(readSource);
}
