import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { timeSkippingServerPath } from '../../src/temporal/test-server.js';
import { scratchFolder, writeScript } from './scratch.js';

const scratch = await scratchFolder();

describe('the time-skipping test server', () => {
  test('is done without where there is no Java', async () => {
    expect(await timeSkippingServerPath({ env: { PATH: '', TOWLINE_CACHE: scratch } })).toBeUndefined();
  });

  test('is done without, and says so, where Maven cannot resolve it', async () => {
    const bin = join(scratch, 'bin');
    await mkdir(bin);
    await writeScript(join(bin, 'java'), 'exit 0');
    await writeScript(join(bin, 'mvn'), '[ "$1" = -version ] || { echo "offline"; exit 1; }');
    const lines: string[] = [];
    const env = { PATH: bin, TOWLINE_CACHE: join(scratch, 'cache') };
    expect(await timeSkippingServerPath({ env, log: (line) => lines.push(line) })).toBeUndefined();
    expect(lines.join('\n')).toContain('tests use the dev server.\noffline');
  });
});
