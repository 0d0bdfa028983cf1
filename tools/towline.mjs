#!/usr/bin/env node
// What `npx towline` runs: npm links to it once and for good, so it must be there, and executable, before dist/ is built.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL, fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url));
if (existsSync(main)) {
  process.argv[1] = main;
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(main).href);
} else if (process.argv.length === 2 || process.argv.includes('--help')) {
  // Of a fresh clone, which has no packages yet: the table of commands is in a source that needs none to be read.
  const program = readFileSync(new URL('../src/cli/program.ts', import.meta.url), 'utf8');
  const commands = [...program.matchAll(/\[\s*'([\w-]+)',\s*('|")(.+?)\2,\s*\(\) => import/g)];
  console.log('Usage: towline <command>, once it is built: run "npm start" or "npm run build" in its folder first.\n');
  for (const [, name, , summary] of commands) console.log(`  ${name.padEnd(16)} ${summary}`);
} else {
  console.error('Towline is not built yet: run "npm start" or "npm run build" in its folder first.');
  process.exitCode = 1;
}
