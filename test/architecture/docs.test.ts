import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { PARK_ACTIONS } from '../../src/protocol/vocabulary.js';
import { settingsDocument } from './settings-document.js';
import { allFiles, readSource, ROOT, shippedSources } from './sources.js';
import { isNamed, type Node, parse, visit } from './syntax.js';

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
  it('is what the table of settings says', async () => {
    const computed = settingsDocument();
    if (process.env['WRITE_DOCS']) await writeFile(join(ROOT, 'docs/settings.md'), computed);
    expect(readSource('docs/settings.md').text).toBe(computed);
  });

  it('has a row for every variable that is read, and for no other', () => {
    const documented = rowsOf(readSource('docs/settings.md').text).flatMap(([cell]) => codeIn(cell) ?? []);
    const read = namesThatAreRead();
    expect(read).toEqual(expect.arrayContaining(['SERVICE_BASE_URL', 'DATABASE_URL', 'GATEWAY_URL', 'NO_COLOR']));
    expect(
      read.filter((name) => !documented.includes(name.replace(/_FILE$/, '')) && !name.startsWith('TEMPORAL_')),
    ).toEqual([]);
    const known = (name: string) => read.includes(name) || name.startsWith('TEMPORAL_');
    expect(documented.filter((name) => !known(name))).toEqual([]);
  });
});

describe('docs/parked-flows.md', () => {
  const { text } = readSource('docs/parked-flows.md');
  const sections = text.split(/^### /m).slice(1);

  it('has a section for every reason to park, with its actions in their order', () => {
    const documented = Object.fromEntries(
      sections.map((section) => [
        /^`(\w+)`/.exec(section)?.[1] ?? section.slice(0, 40),
        rowsOf(section).flatMap(([cell]) => codeIn(cell) ?? []),
      ]),
    );
    expect(documented).toEqual(PARK_ACTIONS);
  });
});

describe('a document of the project', () => {
  const documents = allFiles()
    .filter((path) => path.endsWith('.md'))
    .map(readSource);

  it('links only to files and headings that exist', () => {
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

  it('is short enough to be read if it is the README: at most 250 lines', () => {
    expect(readSource('README.md').text.split('\n').length).toBeLessThanOrEqual(250);
  });
});

describe('docs/testing.md', () => {
  const found = rowsOf(readSource('docs/testing.md').text).filter(([id = '']) => /^E\d+$/.test(id));

  it('has a test for each of the sixteen attacks on the edge', () => {
    expect(found.map(([id]) => id)).toEqual(Array.from({ length: 16 }, (_, n) => `E${n + 1}`));
    expect(found.filter(([, , tests = '']) => titlesIn(tests).length === 0)).toEqual([]);
  });

  it('names only tests that their files have', () => {
    const titles = found.flatMap(([, , tests = '']) => titlesIn(tests));
    const missing = titles.filter(({ file, title }) => {
      const { text } = readSource(join('docs', file));
      // As it is written: in one sort of quotes or another.
      return !["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote},`));
    });
    expect(missing).toEqual([]);
  });
});

/** Links to tests, each by its title. */
const titlesIn = (cell: string) =>
  [...cell.matchAll(/\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => ({ title, file }));

/** What `readSettings` reads, and what the other sources read from an environment that they get: `env.NAME`. */
function namesThatAreRead(): readonly string[] {
  const names = new Set<string>();
  readSettings(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  for (const { path, text } of shippedSources()) {
    visit(parse(path, text).program, (node) => {
      if (node.type !== 'MemberExpression') return;
      const { object, property } = node as unknown as Record<'object' | 'property', Node>;
      const name = String(property['name'] ?? property['value']);
      const isEnvironment = isNamed(object, 'env') || isNamed(object['property'], 'env');
      if (isEnvironment && /^[A-Z][A-Z_]+$/.test(name)) names.add(name);
    });
  }
  names.delete('PATH');
  return [...names];
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
