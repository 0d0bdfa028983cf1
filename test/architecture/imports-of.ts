import type { SourceFile } from './sources.js';
import { type Node, parse, visit } from './syntax.js';

/** One thing that a file imports: a file of ours by its path, or a package by its name. */
export interface Import {
  readonly to: string;
  /** Erased by the compiler: nothing of it is there at run time. */
  readonly typeOnly: boolean;
}

const FROM = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'];

/**
 * Static and dynamic imports, re-exports, `import('…')` types, and `require` of a literal. Under `verbatimModuleSyntax`, only
 * `import type` is erased.
 */
export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (specifier: string | undefined, typeOnly: boolean) => {
    if (specifier !== undefined) found.push({ to: resolve(path, specifier), typeOnly });
  };
  visit(parse(path, text).program, (node) => {
    const source = textOf(node['source']);
    if (FROM.includes(node.type)) add(source, (node['importKind'] ?? node['exportKind']) === 'type');
    if (node.type === 'ImportExpression') add(source, false);
    if (node.type === 'TSImportType') add(source, true);
    const callee = node['callee'] as Node | undefined;
    if (node.type === 'CallExpression' && callee?.['name'] === 'require')
      add(textOf((node['arguments'] as Node[])[0]), false);
  });
  return found;
}

function textOf(node: unknown): string | undefined {
  const value = (node as { value?: unknown } | null | undefined)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** Relative imports become paths from the root, of the source and not of the compiled file. */
function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const path = new URL(specifier, `file:///${from}`).pathname.slice(1);
  return path.replace(/\.(c|m)?js$/, '.$1ts');
}
