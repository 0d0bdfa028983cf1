// `npm run mutants [-- NAME… | --list | --help]`: bugs planted in a copy of the sources, and the tests that must find them.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { runToEnd } from './run-to-end.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  await setUp();
  const loader = pathToFileURL(join(root, 'tools', 'typescript.mjs')).href;
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'test', 'mutants', 'main.ts'), ...args], {
    cwd: root,
  });
});
