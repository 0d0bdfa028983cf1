import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { readRecordings } from './histories.js';
import type { InZone } from './in-zone.js';

const PROGRAM = fileURLToPath(new URL('in-zone.ts', import.meta.url));
const LOADER = new URL('../../tools/typescript.mjs', import.meta.url).href;

/** Replays in a process of its own, in this zone. */
async function inZone(zone: string): Promise<InZone> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--import', LOADER, PROGRAM], {
    env: { ...process.env, TZ: zone },
    maxBuffer: 16 * 1_024 * 1_024,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as InZone;
}

/** Never a whole number of hours from UTC, in which they are recorded, and with summer time. */
const ZONE = 'Pacific/Chatham';

describe('recorded histories, on the present workflows of a worker in another zone', () => {
  it('replay, all of them, and times without a zone are in UTC', async () => {
    const recordings = await readRecordings();
    const found = await inZone(ZONE);
    // A flow that parked before the deployment would stop here: keep the old way by `patched`, or record again if no
    // flow of that version runs anywhere.
    expect(found.broken).toEqual([]);
    expect(found).toMatchObject({ minutesFromUtc: 765, histories: recordings.length + 1 });
    expect(found.lives).toEqual([30_000, 40_000, 3_630_000, 3_630_000, 3_630_000]);
  });
});
