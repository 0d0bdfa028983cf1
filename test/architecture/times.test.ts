import { describe, expect, it } from '@jest/globals';
import { shippedSources, type SourceFile } from './sources.js';
import { isNamed, type Node, parse, visit } from './syntax.js';

/** Where a time that came from outside may be. The rest reads only times that we wrote ourselves, in UTC. */
const FROM_OUTSIDE = /^(workflows|activities|src\/(contract|flows|money|protocol|readers|service-client))\b/;

/** Methods of a `Date` that depend on the zone of the machine. */
const OF_A_ZONE = /^(get|set)(Full)?(Year|Month|Date|Day|Hours|Minutes)$|^to(Date|Time|Locale\w*)?String$/;

/** Where a file reads text as a time, or a time in the zone of the machine. */
function zonesIn({ path, text }: SourceFile): readonly string[] {
  const found: string[] = [];
  visit(parse(path, text).program, (node) => {
    if (isOfAZone(node)) found.push(`${path}: ${text.slice(node.start, node.end)}`);
  });
  return found;
}

function isOfAZone(node: Node): boolean {
  const { object, property, callee } = node;
  if (node.type === 'MemberExpression') {
    if (isNamed(object, 'Date')) return isNamed(property, 'parse');
    return isDate(object as Node) && OF_A_ZONE.test(String((property as Node)['name']));
  }
  if (node.type !== 'NewExpression' || !isNamed(callee, 'Date')) return false;
  const given = node['arguments'] as readonly Node[];
  const [first] = given;
  return given.length > 1 || first?.type === 'TemplateLiteral' || typeof first?.['value'] === 'string';
}

const isDate = (node: Node): boolean =>
  (node.type === 'NewExpression' && isNamed(node['callee'], 'Date')) || isNamed(node, 'date');

describe('times from outside', () => {
  it('are read by readTime and readHttpDate alone, which know no zone of a machine', () => {
    const files = shippedSources().filter(({ path }) => FROM_OUTSIDE.test(path));
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(zonesIn)).toEqual([]);
  });

  it.each([
    'const at = Date.parse(text);',
    "const at = new Date('2026-01-01T10:00:00');",
    'const at = new Date(`${day}T10:00`);',
    'const at = new Date(2026, 0, 1);',
    'const at = new Date(0).getHours();',
    'const at = date.setHours(1);',
    'const at = new Date(0).toLocaleString();',
  ])('would be found in: %s', (text) => {
    expect(zonesIn({ path: 'workflows/x.ts', text })).toHaveLength(1);
  });

  it('may be printed in UTC, and made of milliseconds', () => {
    const text =
      'const date = new Date(ms); date.toISOString(); date.getUTCDate(); date.setUTCFullYear(1); date.getTime();';
    expect(zonesIn({ path: 'workflows/x.ts', text })).toEqual([]);
  });
});
