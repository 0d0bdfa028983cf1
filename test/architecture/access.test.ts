import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PERMISSIONS, ROLES } from '../../src/protocol/permissions.js';
import { readSource, ROOT } from './sources.js';

const PAGE = 'docs/access.md';

/** The page with what is between a pair of marks computed. */
function withTable(text: string, name: string, rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [line(head), `|${head.map(() => '---').join('|')}|`, ...rest.map(line)].join('\n');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  return text.replace(new RegExp(`${begin}[^]*${end}`), () => `${begin}\n\n${table}\n\n${end}`);
}

describe('docs/access.md', () => {
  it('has the table of permissions as the gateway enforces it', async () => {
    const lines = ROLES.flatMap((role) =>
      Object.entries(PERMISSIONS)
        .filter(([, line]) => line.role === role)
        .map(([name, { may }]) => [`\`${role}\``, `\`${name}\``, may]),
    );
    const { text } = readSource(PAGE);
    const computed = withTable(text, 'permissions', [['from the role', 'permission', 'what it allows'], ...lines]);
    if (process.env['WRITE_DOCS']) await writeFile(join(ROOT, PAGE), computed);
    expect(readSource(PAGE).text).toBe(computed);
  });
});
