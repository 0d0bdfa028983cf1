import { expect, test } from '@jest/globals';
import { runProcess, scratchFolder } from '../cli/run.js';

const scratch = await scratchFolder();
const env = {
  ...(process.env as Record<string, string>),
  TOWLINE_HOME: scratch,
  TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
};

test('`towline temporal` hands everything to the Temporal CLI, at the server of the settings', async () => {
  const asked = await runProcess(['temporal', 'operator', 'namespace', 'list', '--output', 'json'], env);
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('"default"') });
});

test('what the Temporal CLI refuses is refused', async () => {
  expect(await runProcess(['temporal', 'frob'], env)).toMatchObject({ code: 1 });
});
