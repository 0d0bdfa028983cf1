import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readSettings, type Settings } from '../../src/config/index.js';
import { PARK_ACTIONS } from '../../src/protocol/vocabulary.js';
import { allFiles, readSource, ROOT, shippedSources } from './sources.js';

/** Rows of all tables in a Markdown file, as their cells. A `|` in a cell would be written `\|`. */
function rowsOf(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|-'))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1));
}

const codeIn = (cell = '') => /^`([^`]+)`$/.exec(cell)?.[1];

describe('docs/settings.md', () => {
  const rows = rowsOf(readSource('docs/settings.md').text).flatMap(([cell, byDefault = '']) => {
    const name = codeIn(cell);
    return name === undefined ? [] : [{ name, byDefault }];
  });
  const documented = rows.map(({ name }) => name);

  it('has a row for every variable that is read, and for no other', () => {
    const read = namesThatAreRead();
    expect(read).toEqual(expect.arrayContaining(['SERVICE_BASE_URL', 'DATABASE_URL', 'GATEWAY_URL', 'NO_COLOR']));
    expect(
      read.filter((name) => !documented.includes(name.replace(/_FILE$/, '')) && !name.startsWith('TEMPORAL_')),
    ).toEqual([]);
    const known = (name: string) => read.includes(name) || name.startsWith('TEMPORAL_');
    expect(documented.filter((name) => !known(name))).toEqual([]);
  });

  it('has the defaults right', () => {
    const defaults: Readonly<Record<string, unknown>> = { ...readSettings({}) };
    const wrong = rows.flatMap(({ name, byDefault }) => {
      const said = codeIn(byDefault);
      const value = valueOf(defaults, name);
      const isRight =
        said === undefined ? byDefault !== '—' || isNothing(value) : value === undefined || said === value;
      return isRight ? [] : [`${name}: ${byDefault}, and not ${value}`];
    });
    expect(wrong).toEqual([]);
    expect(valueOf(defaults, 'SERVICE_TIMEOUT')).toBe('30');
  });
});

describe('docs/parked-flows.md', () => {
  const { text } = readSource('docs/parked-flows.md');
  const sections = text.split(/^### /m).slice(1);

  it('has a section for every reason to park, with its actions in their order', () => {
    const told = Object.fromEntries(
      sections.map((section) => [
        /^`(\w+)`/.exec(section)?.[1] ?? section.slice(0, 40),
        rowsOf(section).flatMap(([cell]) => codeIn(cell) ?? []),
      ]),
    );
    expect(told).toEqual(PARK_ACTIONS);
  });

  it('says of each what happened and what to check', () => {
    const lacking = sections.filter((section) => !/\*What happened\.\*[\s\S]+\*What to check\.\*/.test(section));
    expect(lacking).toEqual([]);
  });
});

describe('docs/faults.md', () => {
  const rows = rowsOf(readSource('docs/faults.md').text).filter(([fault = '']) => /^\d+$/.test(fault));

  it('names no fault that its test does not name, and every one that a test of faults names', () => {
    expect(rows.length).toBeGreaterThan(15);
    const unnamed = rows.flatMap(([fault = '', what, , , , link = '']) => {
      const path = /\]\(\.\.\/([^)]+)\)/.exec(link)?.[1] ?? '';
      const isNamed = existsSync(join(ROOT, path)) && faultsNamedIn(path).includes(fault);
      return isNamed ? [] : [`${fault}: ${what}`];
    });
    expect(unnamed).toEqual([]);
    const tests = allFiles().filter((path) => /^test\/.*\.test\.ts$/.test(path));
    const listed = new Set(rows.map(([fault]) => fault));
    expect([...new Set(tests.flatMap(faultsNamedIn))].filter((fault) => !listed.has(fault))).toEqual([]);
  });
});

/** Numbers of the failure catalogue in the titles of tests. */
function faultsNamedIn(path: string): readonly string[] {
  return [...readSource(path).text.matchAll(/['`(; ]fault (\d+)[:)]/g)].map(([, fault = '']) => fault);
}

describe('the documents', () => {
  const documents = allFiles()
    .filter((path) => path.endsWith('.md'))
    .map(readSource);

  it('link only to files and headings that exist', () => {
    const broken = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        const [file = '', heading] = link.split('#');
        const target = file === '' ? path : join(dirname(path), file);
        const isThere =
          existsSync(join(ROOT, target)) && (heading === undefined || headingsOf(target).includes(heading));
        return isThere ? [] : [`${path}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('are short enough to be read: the README has at most 250 lines', () => {
    expect(readSource('README.md').text.split('\n').length).toBeLessThanOrEqual(250);
  });
});

/**
 * Calls `readSettings` itself, and searches the other sources for what they read from the environment that they get.
 */
function namesThatAreRead(): readonly string[] {
  const names = new Set<string>();
  readSettings(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  for (const { text } of shippedSources()) {
    for (const [, name] of text.matchAll(/\benv(?:\.|\[')([A-Z][A-Z_]+)\b/g)) if (name !== undefined) names.add(name);
  }
  names.delete('PATH');
  return [...names];
}

/** Of the camelCase member; times are given in seconds, and kept in milliseconds. */
function valueOf(defaults: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const member = name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Settings;
  const ms = defaults[`${member}Ms`];
  if (typeof ms === 'number') return String(ms / 1_000);
  const value = defaults[member];
  // Folders are made absolute.
  if (typeof value === 'string') return value.replace(`${process.cwd()}/`, '');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function isNothing(value: string | undefined): boolean {
  return value === undefined || value === '';
}

/** As GitHub makes anchors of headings. */
function headingsOf(path: string): readonly string[] {
  return [...readSource(path).text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}
