import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { writeScript } from '../tools/scratch.js';
import { run, scratchFolder } from '../cli/run.js';

const folder = await scratchFolder();

test("Temporal's command line gets the API key from its file, and no other secret of ours", async () => {
  const seen = join(folder, 'environment');
  const version = 'echo "temporal version 1.0.0 (Server 1.31.2, UI 2.0.0)"';
  const body = `if [ "$1" = --version ]; then ${version}; else /usr/bin/env > '${seen}'; fi`;
  const secretFile = async (name: string, content: string) => {
    const path = join(folder, name);
    await writeFile(path, content, { mode: 0o400 });
    return path;
  };
  const env = {
    TOWLINE_HOME: join(folder, 'home'),
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_CLI_PATH: await writeScript(join(folder, 'temporal'), body),
    TEMPORAL_API_KEY_FILE: await secretFile('api-key', 'key-of-temporal'),
    SERVICE_TOKEN_FILE: await secretFile('token', 'token-of-the-service'),
    CALLBACK_SECRETS_FILE: await secretFile('secrets', `whsec_${Buffer.alloc(32, 6).toString('base64')}`),
  };
  expect(await run(['temporal', 'workflow', 'list'], env)).toMatchObject({ code: 0 });
  const given = await readFile(seen, 'utf8');
  expect(given).toMatch(/^TEMPORAL_API_KEY=key-of-temporal$/m);
  expect(given).not.toMatch(/token-of-the-service|whsec_/);
});
