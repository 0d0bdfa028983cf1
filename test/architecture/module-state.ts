import { importsOf } from './imports-of.js';
import type { SourceFile } from './sources.js';
import { parse } from './syntax.js';

interface Declaration {
  readonly type: string;
  readonly kind?: string;
  readonly declare?: boolean;
  readonly declaration?: Declaration | null;
  readonly declarations?: readonly {
    readonly id: { readonly name?: string; readonly typeAnnotation?: unknown };
    readonly init?: {
      readonly type: string;
      readonly callee?: { readonly name?: string };
      readonly elements?: readonly unknown[];
      readonly properties?: readonly unknown[];
    } | null;
  }[];
}

const COLLECTIONS = /^(Map|Set|WeakMap|WeakSet|Array)$/;

/** Files of ours that a file imports by value, directly or indirectly. */
export function reachedFrom(start: string, files: readonly SourceFile[]): readonly SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<SourceFile>();
  const walk = (path: string): void => {
    const file = byPath.get(path);
    if (file === undefined || reached.has(file)) return;
    reached.add(file);
    for (const { to, typeOnly } of importsOf(file)) if (!typeOnly) walk(to);
  };
  walk(start);
  return [...reached];
}

/**
 * What of a module could remember something from one call to the next: variables, collections that their type lets grow,
 * and lists and objects that are empty at the start.
 */
export function moduleState({ path, text }: SourceFile): readonly string[] {
  const { body } = parse(path, text).program as unknown as { readonly body: readonly Declaration[] };
  return body.flatMap((statement) => {
    const { type, kind, declare, declarations = [] } = statement.declaration ?? statement;
    if (type !== 'VariableDeclaration' || declare === true) return [];
    return declarations.flatMap(({ id, init }) => {
      const isEmpty = (init?.elements ?? init?.properties)?.length === 0;
      const isCollection = init?.type === 'NewExpression' && COLLECTIONS.test(init.callee?.name ?? '');
      const isReadonly = JSON.stringify(id.typeAnnotation ?? null).includes('"Readonly');
      return kind !== 'const' || isEmpty || (isCollection && !isReadonly) ? [`${path}: ${id.name ?? '{…}'}`] : [];
    });
  });
}
