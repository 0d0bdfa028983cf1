import { processContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { runCli } from './program.js';

/** Connections and timers that are still open after a command ended must not keep the process alive. */
const LINGER_MS = 500;

// Not awaited at the top level: `npm start` imports this file, and is not to hang on it.
void main();

async function main(): Promise<void> {
  // `towline list | head`: the reader has closed the pipe. The order is still carried out, but the output, which may
  // be a secret that is shown once, did not arrive.
  let isUnread = false;
  const conclude = (code: number | string | undefined): void => {
    process.exitCode = isUnread && code === EXIT.done ? EXIT.refused : code;
  };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isUnread = true;
    conclude(process.exitCode);
  });
  conclude(await runCli(process.argv.slice(2), processContext()));
  if (process.connected) process.disconnect();
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
