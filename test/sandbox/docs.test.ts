import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { KYC_IDS, UNKNOWN_KYC_WORD } from '../../src/sandbox/account/kyc.js';
import { BRIDGE_MAGIC_AMOUNTS } from '../../src/sandbox/bridge/endings.js';
import { ALL_ENDINGS, CATALOGUE } from '../../src/sandbox/kinds.js';
import { Mischief } from '../../src/sandbox/deliveries/adversary.js';
import { GARBAGE_VARIANTS, HINTS } from '../../src/sandbox/faults/fault-rules.js';
import * as settings from '../../src/sandbox/settings.js';
import { startRig } from './start.js';
import { STREAMS } from '../../src/sandbox/deliveries/message.js';
import { FAULT_KINDS } from '../../src/sandbox/faults/fault-log.js';

/** However wide the columns of its tables are. */
const text = (await readFile(fileURLToPath(new URL('../../docs/sandbox.md', import.meta.url)), 'utf8'))
  .replaceAll(/ +/g, ' ')
  .replaceAll(/\| ?-+ ?(?=\|)/g, '|---');
const unnamed = (words: readonly string[]) => words.filter((word) => !text.includes(`\`${word}\``));

describe('docs/sandbox.md', () => {
  it('names every ending, fault, variant, hint, stream, mischief, setting and its values', () => {
    const { REPEAT_MODES, VOCABULARIES, ERROR_BODIES, WEBHOOK_PROFILES } = settings;
    expect(unnamed([...ALL_ENDINGS, ...FAULT_KINDS, ...GARBAGE_VARIANTS, ...HINTS, ...STREAMS])).toEqual([]);
    expect(unnamed([...REPEAT_MODES, ...VOCABULARIES, ...ERROR_BODIES, ...WEBHOOK_PROFILES])).toEqual([]);
    expect(unnamed(Object.keys(settings.defaultSettings))).toEqual([]);
    expect(unnamed(Object.keys(Mischief.shape))).toEqual([]);
    expect(unnamed([...KYC_IDS.map(([word]) => word).filter((word) => word !== 'approved'), UNKNOWN_KYC_WORD])).toEqual(
      [],
    );
  });

  it('has the magic amount of each ending of a bridge transfer', () => {
    for (const [amount, ending] of Object.entries(BRIDGE_MAGIC_AMOUNTS))
      expect(text).toContain(`| \`${ending}\` | ${amount} |`);
  });

  it.each(CATALOGUE.filter(({ operation }) => operation !== 'createBridgeDeposit'))(
    "has the row of each ending of $operation, as the sandbox's own table has it",
    ({ endings, magic }) => {
      for (const [ending, { story }] of Object.entries(endings)) {
        const [amount = ''] = Object.entries(magic).find(([, one]) => one === ending) ?? [];
        expect(text).toContain(`| \`${ending}\` | ${amount}${amount && ' '}| ${story} |`);
      }
    },
  );

  it('lists every control endpoint, and none that there is not', async () => {
    const rig = await startRig({ dbPath: ':memory:' });
    const { endpoints } = (await rig.control('GET', '')).body;
    await rig.close();
    const there = (endpoints as { method: string; path: string }[]).map(({ method, path }) => `${method} ${path}`);
    expect(unnamed(there)).toEqual([]);
    const listed = [...text.matchAll(/^\| `((?:GET|POST|DELETE) \/_sandbox\S*)`/gm)].map((match) => match[1]);
    expect(listed.filter((line) => line !== 'GET /_sandbox' && !there.includes(line as string))).toEqual([]);
  });
});
