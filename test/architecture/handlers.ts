import type { ActivityOptions } from '@temporalio/workflow';
import * as policies from '../../workflows/engine/policies.js';
import type { SourceFile } from './sources.js';
import { calleeOf, isNamed, type Node, parse, visit } from './syntax.js';

/** What gives an activity an end inside a handler, besides its policy. A comment is not enough there. */
const BOUND = 'within';
const hasEnd = ({ scheduleToCloseTimeout, retry }: ActivityOptions): boolean =>
  scheduleToCloseTimeout !== undefined || retry?.maximumAttempts !== undefined;
const WITH_END = Object.entries(policies).flatMap(([name, policy]) =>
  typeof policy === 'object' && hasEnd(policy) ? [name] : [],
);
/** What makes a function a handler: `onUpdate(flow, update, body, validator)`, and a check that handlers call by its member. */
const REGISTERS = 'onUpdate';
const CALLED_BY_HANDLERS = ['beforeStop'];

interface Func {
  readonly name: string;
  readonly path: string;
  readonly node: Node;
}

/**
 * Activities that an update's handler can reach and that have no end there: they would keep their flow from closing, and
 * take the places that it has for updates. Functions are followed by their names, through all files.
 */
export function endlessInHandlers(files: readonly SourceFile[]): readonly string[] {
  const trees = files.map(({ path, text }) => ({ path, text, program: parse(path, text).program }));
  const byName = new Map<string, Func[]>();
  const roots: Func[] = [];
  for (const { path, program } of trees) {
    visit(program, (node) => {
      const name = nameOf(node);
      if (name !== undefined) byName.set(name, [...(byName.get(name) ?? []), { name, path, node }]);
      if (calleeOf(node) === REGISTERS) roots.push({ name: REGISTERS, path, node });
      const left = node.type === 'AssignmentExpression' ? (node['left'] as Node) : undefined;
      const member = left?.type === 'MemberExpression' ? (left['property'] as Node) : undefined;
      if (CALLED_BY_HANDLERS.some((name) => isNamed(member, name))) {
        roots.push({ name: 'assigned', path, node: node['right'] as Node });
      }
    });
  }
  const found = new Set<string>();
  const seen = new Set<Node>();
  const waiting = [...roots];
  for (let func = waiting.pop(); func !== undefined; func = waiting.pop()) {
    if (seen.has(func.node)) continue;
    seen.add(func.node);
    const { path, node: root } = func;
    const { text } = trees.find((tree) => tree.path === path)!;
    visit(root, (node, around) => {
      const name = calleeOf(node);
      if (name === undefined || around.some((outer) => calleeOf(outer) === BOUND)) return;
      const [policy] = (node['arguments'] ?? []) as readonly Node[];
      if (name === 'act' && WITH_END.some((one) => isNamed(policy, one))) return;
      if (name === 'act') found.add(`${path}: ${text.slice(node.start, node.start + 60)}`);
      else waiting.push(...(byName.get(name) ?? []));
    });
  }
  return [...found];
}

/** Of a function that has a name: `function f() {}`, `const f = () => {}`. */
function nameOf(node: Node): string | undefined {
  const id = node['id'] as Node | null | undefined;
  const isFunction =
    node.type === 'FunctionDeclaration' ||
    (node.type === 'VariableDeclarator' &&
      ['ArrowFunctionExpression', 'FunctionExpression'].includes((node['init'] as Node | null)?.type ?? ''));
  return isFunction && id?.type === 'Identifier' ? String(id['name']) : undefined;
}
