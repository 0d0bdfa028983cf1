// `npm run chaos -- --flows N --seed S`: the whole product as processes, broken while it works; see `--help`.
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
  return runToEnd(['--no-warnings', '--import', loader, join(root, 'test', 'chaos', 'main.ts'), ...args], {
    cwd: root,
  });
});
