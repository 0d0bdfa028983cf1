import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { PERSONS_BY_DEFAULT } from '../../src/protocol/four-eyes.js';
import { PERMISSIONS, PERMISSIONS_OF, ROLES, type Permission } from '../../src/protocol/permissions.js';
import { readSource, ROOT } from './sources.js';
import { secretBytes } from '../harness/secrets.js';

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
    const has = (role: (typeof ROLES)[number], name: string) => PERMISSIONS_OF[role].includes(name as Permission);
    const lines = Object.entries(PERMISSIONS).map(([name, may]) => [
      `\`${name}\``,
      may,
      ...ROLES.map((role) => (has(role, name) ? 'yes' : '')),
    ]);
    const { text } = readSource(PAGE);
    const head = ['permission', 'what it allows', ...ROLES.map((role) => `\`${role}\``)];
    const computed = withTable(text, 'permissions', [head, ...lines]);
    await expectPage(computed);
  });

  it('has the table of who orders alone, and outside of development that is the default', async () => {
    const lines = Object.entries(PERSONS_BY_DEFAULT).map(([action, { persons, why }]) => [
      `\`${action}\``,
      persons === 1 ? 'one' : 'two',
      why,
    ]);
    const { text } = readSource(PAGE);
    await expectPage(withTable(text, 'persons', [['order', 'persons', 'because it'], ...lines]));
    const PAYLOAD_KEYS = `k1:${secretBytes(1).toString('base64')}`;
    const { fourEyes } = readSettings({ DEVELOPMENT: 'false', PAYLOAD_KEYS });
    const alone = lines.filter(([action = '']) => !fourEyes.actions.includes(action.replaceAll('`', '')));
    expect(alone.map(([action, persons]) => [action, persons])).toEqual([
      ['`report-again`', 'one'],
      ['`keep-waiting`', 'one'],
      ['`resume`', 'one'],
      ['`confirm-handed-over`', 'one'],
    ]);
  });
});

async function expectPage(computed: string): Promise<void> {
  if (process.env['WRITE_DOCS']) await writeFile(join(ROOT, PAGE), computed);
  expect(readSource(PAGE).text).toBe(computed);
}
