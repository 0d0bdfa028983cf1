import { execFileSync } from 'node:child_process';
import { parseSync } from 'oxc-parser';
import { packageRoot } from '../../src/package-root.js';

/** What decides about money, and what brings its orders and events. */
const MUTATED = [
  'activities',
  'workflows',
  'src/money.ts',
  'src/store',
  'src/service-client/judge.ts',
  'src/keys',
  'src/callbacks',
  'src/gateway/inbound',
  'src/gateway/dispatch',
  'src/gateway/proxy',
];
/** Passed to its thread as text, so that nothing from outside can switch a mutant in it on. */
const LEFT_OUT = ['src/store/libsql/thread.ts'];
/** The files of these folders that git knows. */
export const filesOf = (paths: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', ...paths], { cwd: packageRoot(), encoding: 'utf8' }).split('\n').filter(Boolean); // prettier-ignore

export const mutatedFiles = (): readonly string[] =>
  filesOf(MUTATED).filter((file) => file.endsWith('.ts') && !LEFT_OUT.includes(file));

/** One small change of one file. The range is that of a whole expression or, if it is removed, a statement. */
export interface Change {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** What is there now. */
  readonly was: string;
  /** Undefined: the statement is removed. */
  readonly becomes: string | undefined;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** An operator, and what may stand in its place. */
const OPERATORS: ReadonlyMap<string, readonly string[]> = new Map([
  ['&&', ['||']],
  ['||', ['&&']],
  ['??', ['&&']],
  ['===', ['!==']],
  ['!==', ['===']],
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
]);
const METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
]);
/** In SQL: a condition that stands after AND is left out, or one word is another. */
const CONDITION_AFTER_AND =
  /\sAND (?:(?!\s(?:AND|OR|ORDER|RETURNING|LIMIT|FOR|THEN)\b)[^()?\n`'"]|'\w*')+(?=[\n)`]|\s(?:AND|OR|ORDER|RETURNING|LIMIT|FOR|THEN)\b|['"]$)/g;
const SQL: readonly (readonly [RegExp, string])[] = [
  [CONDITION_AFTER_AND, ''],
  [/(?<=\s)OR(?=\s)/g, 'AND'],
  [/IS NOT NULL/g, 'IS NULL'],
  [/IS NULL/g, 'IS NOT NULL'],
  [/(?<=\s)<>(?=\s)/g, '='],
  [/(?<=\s)<=(?=\s)/g, '<'],
  [/(?<=\s)>=(?=\s)/g, '>'],
];
/** An index is for speed, and the encoding is the default. */
const NO_DIFFERENCE = /^.(?:CREATE INDEX|utf8.$)/;
const IS_SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WHERE|AND|OR|CASE|FROM|ORDER BY|PRAGMA)\b/;
/** What they say to people is not judged, and neither is any other sentence. */
const WORDS = /Error$|^(?:log|warn|error|info|debug|nonRetryable|describe)$/;
/** Types have no effect; names are not values. */
const SKIPPED = /^(?:TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|ExportAll)/;

/** All small changes of a source file. */
export function changesOf(file: string, text: string): Change[] {
  const found: Change[] = [];
  const slice = (node: Node) => text.slice(node.start, node.end);
  const add = (node: Node, becomes: string | undefined) => {
    const line = text.slice(0, node.start).split('\n').length;
    found.push({ file, line, start: node.start, end: node.end, was: slice(node), becomes });
  };
  /** The node with another text in the place between two of its parts, or from one part to the other. */
  const edited = (node: Node, from: number, to: number, put: string) =>
    text.slice(node.start, from) + put + text.slice(to, node.end);
  const swap = (node: Node, left: Node, right: Node, operator: string) => {
    for (const other of OPERATORS.get(operator) ?? []) add(node, `(${slice(left)}) ${other} (${slice(right)})`);
  };
  const decide = (test: Node, isLoop: boolean) => {
    if (test.type === 'Literal') return;
    if (!isLoop) add(test, 'true');
    add(test, 'false');
  };
  const give = (value: Node | null) => {
    if (value !== null && value.type !== 'Literal' && slice(value) !== 'undefined') add(value, 'undefined');
  };
  const say = (node: Node) => {
    const quoted = slice(node);
    if (NO_DIFFERENCE.test(quoted)) return;
    if (IS_SQL.test(quoted)) {
      for (const [pattern, put] of SQL)
        for (const { 0: hit, index } of quoted.matchAll(pattern))
          add(node, edited(node, node.start + index, node.start + index + hit.length, put));
    } else if (/[a-z] [a-z]/.test(quoted)) return;
    add(node, quoted.length > 2 ? "''" : "'other'");
  };

  const visit = (node: Node, parent: Node | undefined, isForPeople: boolean): void => {
    if (SKIPPED.test(node.type)) return;
    const of = (member: string) => node[member] as Node;
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        decide(of('test'), false);
        break;
      case 'WhileStatement':
      case 'DoWhileStatement':
        decide(of('test'), true);
        break;
      case 'LogicalExpression':
        swap(node, of('left'), of('right'), node['operator'] as string);
        break;
      case 'BinaryExpression':
        if (node['operator'] !== '+' || !/['"`]/.test(slice(node)))
          swap(node, of('left'), of('right'), node['operator'] as string);
        break;
      case 'UnaryExpression':
        if (node['operator'] === '!') add(node, slice(of('argument')));
        break;
      case 'CallExpression': {
        const property = of('callee')['property'] as Node | undefined;
        const other = property && METHODS.get(slice(property));
        const isInChain = parent !== undefined && (parent['object'] === node || parent['callee'] === node);
        if (other !== undefined && !isInChain) add(node, edited(node, property!.start, property!.end, other));
        break;
      }
      case 'ReturnStatement':
        give(node['argument'] as Node | null);
        break;
      case 'ArrowFunctionExpression':
        if (node['expression'] === true && !/^void\b/.test(slice(of('body')))) give(of('body'));
        break;
      case 'ExpressionStatement':
        if (node['directive'] === undefined || node['directive'] === null)
          if (!/^(?:super\(|void 0)/.test(slice(node)) && !isAboutWords(of('expression'))) add(node, undefined);
        break;
      case 'ArrayExpression':
        if ((node['elements'] as unknown[]).length > 0) add(node, '[]');
        break;
      case 'Literal':
        if (typeof node['value'] === 'boolean') add(node, String(!node['value']));
        if (typeof node['value'] === 'string' && !isForPeople) say(node);
        break;
      case 'TemplateLiteral':
        if (!isForPeople && parent?.type !== 'TaggedTemplateExpression') say(node);
        break;
      default:
    }
    const forPeople = isForPeople || node.type === 'ThrowStatement' || isAboutWords(node);
    for (const [member, child] of Object.entries(node)) {
      if (['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType', 'source'].includes(member)) continue;
      if ((member === 'key' || member === 'property') && node['computed'] === false) continue;
      for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) visit(one, node, forPeople);
    }
  };
  const isAboutWords = (node: Node): boolean => {
    const callee =
      node.type === 'CallExpression' || node.type === 'NewExpression' ? (node['callee'] as Node) : undefined;
    return callee !== undefined && WORDS.test(/\w+$/.exec(slice(callee))?.[0] ?? '');
  };
  visit(parseSync(file, text, { preserveParens: false }).program as unknown as Node, undefined, false);
  return found;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** A change with the number that switches it on. */
export interface Mutant extends Change {
  readonly id: number;
}

/**
 * The file's text with all these changes in it, each switched on by its number: `test/mutants/switch.ts` decides. What is
 * reached in the sandbox of workflows shares only some classes with its surroundings; `TextEncoder` is one.
 */
export function weave(text: string, mutants: readonly Mutant[]): string {
  const outermostFirst = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end);
  return weaveRange(text, outermostFirst, 0, text.length);
}

function weaveRange(text: string, mutants: readonly Mutant[], from: number, to: number): string {
  const [outer, ...others] = mutants;
  if (outer === undefined) return text.slice(from, to);
  const { start, end, id, becomes } = outer;
  const inside = weaveRange(text, others.filter((other) => other.start < end), start, end); // prettier-ignore
  const isOn = `TextEncoder.mutant?.(${id})`;
  const woven = becomes === undefined ? `{ if (!${isOn}) ${inside} }` : `(${isOn} ? ${becomes} : ${inside})`;
  const after = others.filter((other) => other.start >= end);
  return text.slice(from, start) + woven + weaveRange(text, after, end, to);
}
