import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/wasm-typescript';

/** Our imports name the compiled file, `./money.js`, whose source is `./money.ts`. */
export async function resolve(specifier, context, nextResolve) {
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (source.protocol === 'file:' && existsSync(fileURLToPath(source)))
      return { url: source.href, shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

/** Blanks take the place of types, so that every line and column of a stack trace is that of the source. */
export async function load(url, context, nextLoad) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const source = await readFile(filename, 'utf8');
  try {
    const { code } = await transform(source, { mode: 'strip-only', filename, module: true });
    return { format: 'module', source: code, shortCircuit: true };
  } catch ({ message, startLine, startColumn }) {
    throw new SyntaxError(`${filename}:${startLine}:${startColumn + 1}: ${message}`);
  }
}
