// `npm start`: from a fresh clone to a running Towline. Only Node's own modules here, as nothing is installed yet.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';
import { setUp } from './setup.mjs';

await runMain(async (args) => {
  await setUp();
  // In this process, not in a child: so signals, the terminal and the exit code are its own.
  const main = join(root, 'dist', 'src', 'cli', 'main.js');
  process.argv = [process.execPath, main, 'up', ...args];
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(main).href);
});
