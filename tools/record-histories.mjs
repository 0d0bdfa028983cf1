// `npm run record-histories`: plays the scenes of test/replay that have no history yet on a real Temporal server and
// the sandbox, and writes their histories to test/replay/histories; `-- completed refunded` records these again. Do
// that if the workflows' commands changed, before flows of that version run anywhere; from then on its histories stay,
// and later versions replay them.
import './typescript.mjs';
import { runMain } from './failure.mjs';
import { say } from './step.mjs';

await runMain(async (args) => {
  const { startServers, stopTestServers } = await import('../test/setup/test-servers.ts');
  const { recordHistories } = await import('../test/replay/record.ts');
  await startServers();
  try {
    await recordHistories(process.env.TEST_TEMPORAL_ADDRESS, say, args);
  } finally {
    await stopTestServers();
  }
});
