import { parseSync } from '@swc/core';
import type { SourceFile } from './sources.js';

/** One thing that a file imports: a file of ours by its path, or a package by its name. */
export interface Import {
  readonly to: string;
  /** Erased by the compiler: nothing of it is there at run time. */
  readonly typeOnly: boolean;
}

type Node = Readonly<Record<string, unknown>>;

/** Static and dynamic imports, re-exports and `require` of a literal. Under `verbatimModuleSyntax`, only `import type` is erased. */
export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (specifier: unknown, typeOnly: boolean) => {
    if (typeof specifier === 'string') found.push({ to: resolve(path, specifier), typeOnly });
  };
  visit(programOf(text), (node) => {
    const source = valueOf(node['source']);
    if (node['type'] === 'ImportDeclaration') add(source, node['typeOnly'] === true);
    if (node['type'] === 'ExportNamedDeclaration') add(source, node['typeOnly'] === true);
    if (node['type'] === 'ExportAllDeclaration') add(source, node['typeOnly'] === true);
    if (node['type'] === 'CallExpression') {
      const callee = node['callee'] as Node;
      const isImport = callee['type'] === 'Import' || callee['value'] === 'require';
      if (isImport) add(valueOf((node['arguments'] as { expression?: unknown }[])[0]?.expression), false);
    }
  });
  return found;
}

/** Whether the code, without comments, touches `process.env`. */
export function readsProcessEnv({ text }: SourceFile): boolean {
  let reads = false;
  visit(programOf(text), (node) => {
    if (node['type'] === 'MemberExpression') {
      reads ||= valueOf(node['object']) === 'process' && propertyOf(node['property']) === 'env';
    }
    if (node['type'] === 'ImportDeclaration' && /^(node:)?process$/.test(valueOf(node['source']) ?? '')) reads = true;
  });
  return reads;
}

function programOf(text: string): unknown {
  return parseSync(text, { syntax: 'typescript', target: 'es2022' });
}

function visit(node: unknown, look: (node: Node) => void): void {
  if (Array.isArray(node)) for (const child of node) visit(child, look);
  else if (typeof node === 'object' && node !== null) {
    look(node as Node);
    for (const child of Object.values(node)) visit(child, look);
  }
}

function valueOf(node: unknown): string | undefined {
  const value = (node as { value?: unknown } | null | undefined)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** `.env` and `['env']`. */
function propertyOf(node: unknown): string | undefined {
  const computed = (node as { expression?: unknown } | null | undefined)?.expression;
  return valueOf(computed ?? node);
}

/** Relative imports become paths from the root, of the source and not of the compiled file. */
function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const path = new URL(specifier, `file:///${from}`).pathname.slice(1);
  return path.replace(/\.(c|m)?js$/, '.$1ts');
}
