import { Command } from 'commander';
import { addGatewayCommand } from './commands/gateway.js';
import { addSandboxCommand } from './commands/sandbox.js';
import { addUpCommand } from './commands/up.js';
import { addWorkerCommand } from './commands/worker.js';
import type { CliContext } from './context.js';
import { EXIT_CODES_HELP } from './exit-codes.js';
import type { RunCommand } from './run-command.js';

/** The whole command line. A new command is one file and one line here. */
export function createProgram(context: CliContext, run: RunCommand): Command {
  const program = new Command('towline')
    .description('Money flows across a payments service, durable.')
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    })
    .showHelpAfterError('(add --help for help)')
    .exitOverride()
    .addHelpText('after', `${EXIT_CODES_HELP}\n\nExample:\n  towline up`);

  const groups = {
    'Run:': [addUpCommand, addGatewayCommand, addWorkerCommand, addSandboxCommand],
  };
  for (const [heading, commands] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, run, context);
  }
  return program;
}
