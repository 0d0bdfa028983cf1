// `npm run cluster`: Towline on a real Temporal server and Postgres, without containers; see `--help`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  // The processes run from dist/.
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'test', 'cluster', 'main.ts'), ...args], {
    cwd: root,
  });
});
