import { parseSync } from '@swc/core';
import { describe, expect, it } from '@jest/globals';
import { shippedSources, type SourceFile } from './sources.js';

/** Where a time that came from outside may be. The rest reads only times that we wrote ourselves, in UTC. */
const FROM_OUTSIDE = /^(workflows|activities|src\/(contract|flows|money|protocol|readers|service-client))\b/;

/** Of a `Date`, what depends on the zone of the machine. */
const OF_A_ZONE = /^(get|set)(?!UTC|Time$)|^to(Locale)?(String|DateString|TimeString)$|^toLocale/;

/** Every use of a machine's zone in a file, or of a reader of times that has one, by its name. */
function zonesIn({ path, text }: SourceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node !== 'object' || node === null) return;
    found.push(...zoneOf(node as Node).map((what) => `${path}: ${what}`));
    Object.values(node).forEach(visit);
  };
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }).body);
  return found;
}

interface Node {
  readonly type?: string;
  readonly value?: unknown;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: unknown;
}

function zoneOf({ type, object, property, callee, arguments: given }: Node): readonly string[] {
  const member = String(property?.value);
  if (type === 'MemberExpression' && object?.value === 'Date' && member === 'parse') return ['Date.parse'];
  if (type === 'MemberExpression' && OF_A_ZONE.test(member) && isDate(object)) return [`Date ${member}`];
  if (type === 'NewExpression' && callee?.value === 'Date' && Array.isArray(given) && given.length > 1)
    return ['new Date of parts'];
  const [first] = Array.isArray(given) ? (given as readonly { readonly expression: Node }[]) : [];
  const isText = first?.expression.type === 'StringLiteral' || first?.expression.type === 'TemplateLiteral';
  return type === 'NewExpression' && callee?.value === 'Date' && isText ? ['new Date of text'] : [];
}

const isDate = (node: Node | undefined): boolean =>
  (node?.type === 'NewExpression' && node.callee?.value === 'Date') || /date/i.test(String(node?.value));

describe('times from outside', () => {
  it('are read by readTime and readHttpDate alone, which know no zone of a machine', () => {
    const files = shippedSources().filter(({ path }) => FROM_OUTSIDE.test(path));
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(zonesIn)).toEqual([]);
  });

  it.each([
    "const a = Date.parse('2026-01-01T10:00:00');",
    "const a = new Date('2026-01-01T10:00:00');",
    'const a = new Date(2026, 0, 1);',
    'const a = new Date(0).getHours();',
    'const a = date.setHours(1);',
    'const a = new Date().toLocaleString();',
  ])('would be found in: %s', (text) => {
    expect(zonesIn({ path: 'workflows/x.ts', text })).toHaveLength(1);
  });

  it('may be printed, and made of milliseconds', () => {
    const text =
      'const date = new Date(5); date.toISOString(); date.getUTCDate(); date.setUTCFullYear(1); date.getTime();';
    expect(zonesIn({ path: 'workflows/x.ts', text })).toEqual([]);
  });
});
