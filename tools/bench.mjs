// `npm run bench [-- NAME… --write]`: measures the budgets of docs/performance.md, against the code in dist/.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'bench', 'main.ts'), ...args], { cwd: root });
});
