// `npm run sim -- --seed N`: one simulated run, or many (`--seeds 10000`), of the current sources; see `--help`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  // The workflows come from the bundle in dist/.
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'test', 'sim', 'main.ts'), ...args], { cwd: root });
});
