// `npm run soak [-- NAME… | --list | --help]`: the loops of test/soak at full size, by hand and at night.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'test', 'soak', 'main.ts'), ...args], { cwd: root });
});
