import { CommanderError } from 'commander';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { explainError } from './explain-error.js';
import { createProgram } from './program.js';

/** Runs one command line to its exit code. Never rejects. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = createProgram(context, async (work) => {
    exitCode = await work();
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has said it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
    const explained = explainError(error);
    if (explained === undefined) context.err(error instanceof Error ? (error.stack ?? error.message) : String(error));
    else context.err(context.colors.red(explained.sentence));
    return explained?.exitCode ?? EXIT.refused;
  }
}
