#!/usr/bin/env node
// What `npx towline` runs: npm links to it once and for good, so it must be there, and executable, before dist/ is built.
import { existsSync } from 'node:fs';
import { pathToFileURL, fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
if (existsSync(main)) {
  process.argv[1] = main;
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(main).href);
} else {
  console.error('Towline is not built yet: run "npm start" or "npm run build" in its folder first.');
  process.exitCode = 1;
}
