import { describe, expect, it } from '@jest/globals';
import { allFiles, readSource, shippedSources, type SourceFile } from './sources.js';
import { type Node, parse } from './syntax.js';

const paths = allFiles();
const code = paths.filter((path) => /\.(c|m)?(ts|js)$/.test(path));

/** A longer file holds more than one concept, unless it is a table of data. */
const MOST_LINES = 500;

describe('a file of the project', () => {
  it('is never called after nothing in particular', () => {
    expect(code.filter((path) => /(^|[/-])(utils?|helpers?|common|misc)([/.-]|$)/.test(path))).toEqual([]);
  });

  it(`has at most ${MOST_LINES} lines, unless it is a table of data`, () => {
    const tooLong = code.map(readSource).filter(({ text }) => text.split('\n').length - 1 > MOST_LINES);
    expect(tooLong.filter((file) => !isTable(file)).map(({ path }) => path)).toEqual([]);
  });

  it.each([
    "import type { Row } from './row.js';\n/** Rows. */\nexport const ROWS = [{ a: 1, b: ['x', `y`, -2, null] }] as const satisfies readonly Row[];",
    "export const A = 'x'; export type B = 1;",
  ])('is a table of data if it only exports literals: %j', (text) => {
    expect(isTable({ path: 'x.ts', text })).toBe(true);
  });

  it.each(['export const f = () => 1;', 'export const A = make();', 'run();'])(
    'is no table of data if it computes something: %j',
    (text) => {
      expect(isTable({ path: 'x.ts', text })).toBe(false);
    },
  );

  it('names only files that exist in its comments', () => {
    expect(shippedSources().flatMap(missingIn)).toEqual([]);
    const text = "const a = 'gone.ts'; // See `gone.md`.\n/*\n * also gone.ts, package.json */";
    expect(missingIn({ path: 'x.ts', text })).toEqual(['x.ts names gone.md', 'x.ts names gone.ts']);
  });

  it('names no package registry and no path of one machine', () => {
    expect(paths.map(readSource).flatMap(tracesOf)).toEqual([]);
  });

  // The % keeps this very file free of them.
  it.each(['https://regis%try.some.example/pkg', 'pro%xy.golang.example', '"/ro%ot/x"', '"/wo%rk/x"', '/home/%ann/x'])(
    'is found if it names a registry or a path of one machine: %j without its %%',
    (text) => {
      expect(tracesOf({ path: 'x.md', text: text.replace('%', '') })).toHaveLength(1);
    },
  );

  it.each(['docs/work/', 'the registry.', 'src/root.mjs'])('may have %j', (text) => {
    expect(tracesOf({ path: 'x', text })).toEqual([]);
  });
});

const DATA = [
  'ArrayExpression',
  'Literal',
  'ObjectExpression',
  'Property',
  'TemplateElement',
  'TemplateLiteral',
  'UnaryExpression',
];
const WRAPPED = ['TSAsExpression', 'TSSatisfiesExpression'];
const TYPES = /^(ImportDeclaration|TS\w+Declaration)$/;

/** A file that declares types and literals, and computes nothing. */
function isTable({ path, text }: SourceFile): boolean {
  if (!path.endsWith('.ts')) return false;
  const { body } = parse(path, text).program as unknown as { readonly body: readonly Node[] };
  return body.every((statement) => {
    const declaration = (statement['declaration'] as Node | null | undefined) ?? statement;
    if (TYPES.test(declaration.type)) return true;
    if (declaration.type !== 'VariableDeclaration') return false;
    return (declaration['declarations'] as readonly Node[]).every(({ init }) => isLiteral(init as Node | null));
  });
}

function isLiteral(node: Node | null): boolean {
  if (node === null) return false;
  if (WRAPPED.includes(node.type)) return isLiteral(node['expression'] as Node);
  if (!DATA.includes(node.type)) return false;
  const inside = [node['elements'], node['properties'], node['value'], node['argument'], node['expressions']].flat();
  return inside.every((child) => typeof (child as Node | null)?.type !== 'string' || isLiteral(child as Node));
}

/** Not `.js`: libraries are called so. */
const FILE_NAME = /(?<![\w@/.-])\w[\w./-]*\.(?:c?ts|mjs|md|json)\b/g;

/** Files that the comments of a file name by their path or its end, and that do not exist. */
function missingIn({ path, text }: SourceFile): readonly string[] {
  const named = parse(path, text).comments.flatMap(({ value }) => value.match(FILE_NAME) ?? []);
  const missing = named.filter((name) => !paths.some((known) => known === name || known.endsWith(`/${name}`)));
  return missing.map((name) => `${path} names ${name}`);
}

/** Hosts whose name begins like those of registries and mirrors. A machine's own configuration names its registry. */
const REGISTRY =
  /\b(?:registry|proxy|mirrors?|repo1?|artifactory|nexus|npm|pypi|goproxy|sum)\.(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|cloud|internal|local|example)\b/;
const MACHINE_PATH = /(?<![\w.}*-])\/(?:work|root|home\/\w+|Users\/\w+)\//;

function tracesOf({ path, text }: SourceFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const trace = REGISTRY.exec(line)?.[0] ?? MACHINE_PATH.exec(line)?.[0];
    return trace === undefined ? [] : [`${path}:${index + 1} has ${trace}`];
  });
}
