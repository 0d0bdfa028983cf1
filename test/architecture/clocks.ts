import type { SourceFile } from './sources.js';
import { calleeOf, isNamed, type Node, parse, visit } from './syntax.js';

/** Where a file reads the machine's clock. Files of the name `clock.ts` are its home: all others get one of theirs. */
export function clockReads({ path, text }: SourceFile): readonly string[] {
  if (path.endsWith('/clock.ts')) return [];
  const found: string[] = [];
  visit(parse(path, text).program, (node) => {
    const isNow =
      node.type === 'MemberExpression' && isNamed(node['object'], 'Date') && isNamed(node['property'], 'now');
    const isNew = node.type === 'NewExpression' && isNamed(node['callee'], 'Date');
    const isBare = isNew && (node['arguments'] as readonly Node[]).length === 0;
    if (isNow || isBare || calleeOf(node) === 'Date') found.push(`${path}: ${text.slice(node.start, node.end)}`);
  });
  return found;
}
