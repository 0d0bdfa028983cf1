import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { up } from '../up/up.js';

interface Options {
  readonly once?: boolean;
  readonly demo: boolean;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('up')
    .description(
      'Finds or starts a Temporal server, starts the sandbox (if SERVICE_BASE_URL is not set), a gateway and a ' +
        'worker, plays flows of every kind against the sandbox, and stays up until Ctrl-C. State is kept in TOWLINE_HOME.',
    )
    .option('--once', 'end after the demo; the exit code is 0 only if every flow ended as expected')
    .option('--no-demo', 'only serve')
    .addHelpText(
      'after',
      '\nExamples:\n  towline up --no-demo\n  TOWLINE_HOME=other GATEWAY_PORT=8500 SANDBOX_PORT=8501 towline up',
    )
    .action(({ once = false, demo }: Options) => run(() => up(context, { once, demo })));
}
