// `node tools/run.mjs FILE.ts ARGUMENTS…`: sets the checkout up (dist/ is what processes run from), then runs one of our
// programs from its sources; see its `--help`. The scripts of package.json name them.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async ([file, ...args]) => {
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, file), ...args], { cwd: root });
});
