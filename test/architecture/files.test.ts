import { describe, expect, it } from '@jest/globals';
import { allFiles, readSource, shippedSources, type SourceFile } from './sources.js';

const paths = allFiles();
const code = paths.filter((path) => /\.(c|m)?(ts|js)$/.test(path));

/** A longer file holds more than one concept. A test file is a list of sentences, so it may be longer. */
const MOST_LINES = { code: 300, test: 350 };
const LONG = 200;

describe('files', () => {
  it('are never called after nothing in particular', () => {
    expect(code.filter((path) => /(^|[/-])(utils?|helpers?|common|misc)([/.-]|$)/.test(path))).toEqual([]);
  });

  it('hold one concept each: none is too long', () => {
    const lengths = code.map((path) => ({ path, lines: readSource(path).text.split('\n').length - 1 }));
    const listed = lengths
      .filter(({ lines }) => lines > LONG)
      .toSorted((a, b) => b.lines - a.lines)
      .map(({ path, lines }) => `${lines} ${path}`);
    const tooLong = lengths.filter(({ path, lines }) => lines > MOST_LINES[path.startsWith('test/') ? 'test' : 'code']);
    // Shown only if one is too long: files that are close to it.
    expect(tooLong.length === 0 ? [] : { tooLong, over200: listed }).toEqual([]);
  });

  it('are there, if a comment of what ships names them', () => {
    expect(shippedSources().flatMap(missingIn)).toEqual([]);
    expect(
      missingIn({ path: 'x.ts', text: "const a = 'gone.ts'; // See `gone.md`.\n * also gone.ts, package.json" }),
    ).toEqual(['x.ts:1 names gone.md', 'x.ts:2 names gone.ts']);
  });

  it('name no package registry and no path of one machine', () => {
    expect(paths.map(readSource).flatMap(tracesOf)).toEqual([]);
  });

  it('would show a registry or a path of one machine', () => {
    // The % keeps this very file free of them.
    const shown = [
      'https://regis%try.some.example/pkg',
      'pro%xy.golang.example',
      '"/ro%ot/x"',
      '"/wo%rk/x"',
      '/home/%ann/x',
    ];
    for (const text of shown) expect(tracesOf({ path: 'x.md', text: text.replace('%', '') })).toHaveLength(1);
    for (const text of ['docs/work/', 'the registry.', 'src/root.mjs'])
      expect(tracesOf({ path: 'x', text })).toEqual([]);
  });
});

/** A comment, and the part of a line after code that is one. */
const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)|(?<=\s)\/\/ (.*)$/;
/** Not `.js`: libraries are called so. */
const FILE_NAME = /(?<![\w@/.-])\w[\w./-]*\.(?:c?ts|mjs|md|json)\b/g;

/** Files that the comments of a file name by their path or its end, and that do not exist. */
function missingIn({ path, text }: SourceFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const [, whole, after] = COMMENT.exec(line) ?? [];
    const named = (whole ?? after ?? '').match(FILE_NAME) ?? [];
    const missing = named.filter((name) => !paths.some((known) => known === name || known.endsWith(`/${name}`)));
    return missing.map((name) => `${path}:${index + 1} names ${name}`);
  });
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
