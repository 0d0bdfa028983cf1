import { type Comment, parseSync } from 'oxc-parser';

/** A node of a syntax tree (ESTree with TypeScript's nodes). */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export interface Syntax {
  readonly program: Node;
  readonly comments: readonly Comment[];
}

/** @throws Error if the text is no TypeScript */
export function parse(path: string, text: string): Syntax {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message ?? 'cannot be parsed'}`);
  return { program: program as unknown as Node, comments };
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** Visits each node, with those around it, the innermost last. */
export function visit(root: Node, see: (node: Node, around: readonly Node[]) => void): void {
  const around: Node[] = [];
  const walk = (node: Node): void => {
    see(node, around);
    around.push(node);
    for (const child of Object.values(node).flat()) if (isNode(child)) walk(child);
    around.pop();
  };
  walk(root);
}

/** The name of what is called: `f` of `f()`; of `x.f()`, nothing. */
export const calleeOf = (node: Node): string | undefined => {
  const callee = node['callee'] as Node | undefined;
  return node.type === 'CallExpression' && callee?.type === 'Identifier' ? String(callee['name']) : undefined;
};

/** Whether it is the identifier of that name. */
export const isNamed = (node: unknown, name: string): boolean =>
  isNode(node) && node.type === 'Identifier' && node['name'] === name;
