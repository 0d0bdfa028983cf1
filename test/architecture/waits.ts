import type { SourceFile } from './sources.js';
import { calleeOf, type Node, parse, visit } from './syntax.js';

/** Everything of the SDK that a flow can wait for, and our own names for it. */
const WAITS = [
  'act',
  'condition',
  'executeChild',
  'getExternalWorkflowHandle',
  'proxyActivities',
  'proxyLocalActivities',
  'sleep',
  'startChild',
];

/**
 * What workflows may import of the SDK besides, and wait for by nothing of it. `cancelRequested` of a scope is watched beside
 * the flow, or comes at once from the server that was asked for it.
 */
const WAITS_FOR_NOTHING = [
  'ActivityFailure',
  'allHandlersFinished',
  'ApplicationFailure',
  'CancellationScope',
  'continueAsNew',
  'currentUpdateInfo',
  'defineQuery',
  'defineSignal',
  'defineUpdate',
  'isCancellation',
  'ParentClosePolicy',
  'rootCause',
  'setCurrentDetails',
  'setHandler',
  'TemporalFailure',
  'TimeoutFailure',
  'upsertMemo',
  'upsertSearchAttributes',
  'uuid4',
  'workflowInfo',
];

/** Run inside these, an activity or a pause ends at the deadline, after a time, or with the wait that watches it. */
const WRAPPERS = ['within', 'observed', 'unlessStopped', 'submitUntilDeadline'];
/** How a wait that is bounded elsewhere says by what, in the comment above its statement. */
const MARKER = /\bBounded by \w/;

/** Waits of a file without a bound: a time, the deadline, a wrapper around it, or a comment that names another one. */
export function unboundedWaits({ path, text }: SourceFile): readonly string[] {
  const { program, comments } = parse(path, text);
  const found: string[] = [];
  visit(program, (node, around) => {
    const name = calleeOf(node);
    if (name === undefined || !WAITS.includes(name)) return;
    const statement =
      around.findLast(({ type }) => /Statement$|Declaration$|^Property$/.test(type) && type !== 'BlockStatement') ??
      node;
    const before = text.slice(0, statement.start);
    const isMarked = comments.some(
      (comment) =>
        MARKER.test(comment.value) &&
        (comment.end <= statement.start ? isAbove(before.slice(comment.end)) : comment.start < node.start),
    );
    if (!isMarked && !isBounded(name, node, around)) found.push(`${path}: ${text.slice(node.start, node.start + 60)}`);
  });
  return found;
}

/** Between a comment and the statement below it: nothing but more lines of comment. */
const isAbove = (between: string): boolean => /^(?:\s|\/\/[^\n]*)*$/.test(between);

function isBounded(name: string, node: Node, around: readonly Node[]): boolean {
  if (name !== 'condition') return around.some((outer) => WRAPPERS.includes(calleeOf(outer) ?? ''));
  if ((node['arguments'] as readonly Node[]).length > 1) return true;
  let asksForDeadline = false;
  visit(node, (inner) => void (asksForDeadline ||= inner.type === 'Identifier' && inner['name'] === 'deadlinePassed'));
  return asksForDeadline;
}

/** Values of the SDK that a file imports, and that are neither a wait nor known to wait for nothing. */
export function unknownOfSdk({ path, text }: SourceFile): readonly string[] {
  const found: string[] = [];
  visit(parse(path, text).program, (node) => {
    const source = (node['source'] as { value?: unknown } | null | undefined)?.value;
    if (node.type !== 'ImportDeclaration' || source !== '@temporalio/workflow' || node['importKind'] === 'type') return;
    for (const specifier of node['specifiers'] as readonly Node[]) {
      const { name = '*' } = (specifier['imported'] ?? {}) as { readonly name?: string };
      const isKnown = specifier['importKind'] === 'type' || WAITS.includes(name) || WAITS_FOR_NOTHING.includes(name);
      if (!isKnown) found.push(`${path}: ${name}`);
    }
  });
  return found;
}
