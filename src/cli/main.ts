#!/usr/bin/env node
import { processContext } from './context.js';
import { runCli } from './run-cli.js';

/** What is still open after a command ended (a connection, a timer) must not keep the process. */
const LINGER_MS = 500;

// Not awaited at the top level: `npm start` imports this file, and is not to hang on it.
void main();

async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2), processContext());
  if (process.connected) process.disconnect();
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
