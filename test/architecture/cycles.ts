import { importsOf } from './imports-of.js';
import type { SourceFile } from './sources.js';

/** Cycles of files that import one another, including types; each as a path that ends where it began. */
export function cycles(files: readonly SourceFile[]): readonly string[] {
  const graph = new Map(files.map((file) => [file.path, targetsOf(file)]));
  const found: string[] = [];
  const done = new Set<string>();

  const walk = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) found.push([...way.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}

function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file).map(({ to }) => to);
}
