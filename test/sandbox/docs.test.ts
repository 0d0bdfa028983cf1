import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { bridgeEndings } from '../../src/sandbox/bridge/endings.js';
import { BRIDGE_MAGIC_AMOUNTS } from '../../src/sandbox/bridge/magic-amounts.js';
import { SEND_ENDINGS, SEND_LIFECYCLE } from '../../src/sandbox/crypto-send/lifecycle.js';
import { FAULT_KINDS, GARBAGE_VARIANTS, HINTS } from '../../src/sandbox/faults/rule.js';
import { REPEAT_MODES } from '../../src/sandbox/settings.js';
import { startRig } from './start.js';

const DOCS = fileURLToPath(new URL('../../docs/sandbox.md', import.meta.url));

describe('docs/sandbox.md', () => {
  it('names every ending, fault, variant, hint and repeat mode', async () => {
    const text = await readFile(DOCS, 'utf8');
    const words = [
      ...bridgeEndings,
      ...Object.keys(SEND_ENDINGS),
      ...FAULT_KINDS,
      ...GARBAGE_VARIANTS,
      ...HINTS,
      ...REPEAT_MODES,
    ];
    expect(words.filter((word) => !text.includes(`\`${word}\``))).toEqual([]);
  });

  it('has the magic amounts right', async () => {
    // However wide the table's columns are.
    const text = (await readFile(DOCS, 'utf8')).replaceAll(/ +/g, ' ');
    for (const [amount, ending] of Object.entries(BRIDGE_MAGIC_AMOUNTS))
      expect(text).toContain(`| \`${ending}\` | ${amount} |`);
    for (const [amount, ending] of Object.entries(SEND_LIFECYCLE.magic))
      expect(text).toMatch(new RegExp(`\`${ending}\`\\s+\\(\\${amount}\\)`));
  });

  it('lists every control endpoint', async () => {
    const text = await readFile(DOCS, 'utf8');
    const rig = await startRig({ dbPath: ':memory:' });
    const { endpoints } = (await rig.control('GET', '')).body;
    await rig.close();
    const missing = (endpoints as { method: string; path: string }[])
      .map(({ method, path }) => `\`${method} ${path}\``)
      .filter((line) => !text.includes(line));
    expect(missing).toEqual([]);
  });
});
