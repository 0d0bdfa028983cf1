import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-root.js';
import { addAccountCommand } from './commands/account.js';
import { addAcknowledgeCommand } from './commands/acknowledge.js';
import { addApproveCommand } from './commands/approve.js';
import { addAuditCommand } from './commands/audit.js';
import { addCallbacksCommand } from './commands/callbacks.js';
import { addCancelCommand } from './commands/cancel.js';
import { addCompletionCommand } from './commands/completion.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEventsCommand } from './commands/events.js';
import { addGatewayCommand } from './commands/gateway.js';
import { addGiveCommand } from './commands/give.js';
import { addKeysCommand } from './commands/keys.js';
import { addListCommand } from './commands/list.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addNotifyCommand } from './commands/notify.js';
import { addPayCommand } from './commands/pay.js';
import { addRefundInvoiceCommand } from './commands/refund-invoice.js';
import { addResolveCommand } from './commands/resolve.js';
import { addSandboxCommand } from './commands/sandbox.js';
import { addShowCommand } from './commands/show.js';
import { addStartCommand } from './commands/start.js';
import { addStoreCommand } from './commands/store.js';
import { addTemporalCommand } from './commands/temporal.js';
import { addUpCommand } from './commands/up.js';
import { addWaitCommand } from './commands/wait.js';
import { addWatchCommand } from './commands/watch.js';
import { addWithdrawCommand } from './commands/withdraw.js';
import { addWorkerCommand } from './commands/worker.js';
import type { CliContext, RunCommand } from './context.js';
import { EXIT, EXIT_CODES_HELP } from './exit-codes.js';
import { explainError } from './explain-error.js';

/** A new command is one file and one line here. */
const COMMANDS = {
  'Run it:': [
    addUpCommand,
    addGatewayCommand,
    addWorkerCommand,
    addSandboxCommand,
    addDoctorCommand,
    addNotifyCommand,
    addStoreCommand,
    addKeysCommand,
    addMigrateCommand,
    addTemporalCommand,
  ],
  'Flows:': [addStartCommand, addListCommand, addShowCommand, addWatchCommand, addWaitCommand],
  'Decisions:': [
    addApproveCommand,
    addPayCommand,
    addRefundInvoiceCommand,
    addCancelCommand,
    addResolveCommand,
    addWithdrawCommand,
    addAcknowledgeCommand,
    addEventsCommand,
    addCallbacksCommand,
    addGiveCommand,
    addAuditCommand,
  ],
  'The account at the service:': [addAccountCommand],
  'Your shell:': [addCompletionCommand],
} as const;

const ENVIRONMENT_HELP = `
Flows and decisions go to the gateway at GATEWAY_URL with the token TOWLINE_TOKEN; without them, to the gateway of this
machine's settings with the token of development.`;

/** The whole command line. */
export function createProgram(context: CliContext, run: RunCommand): Command {
  const program = new Command('towline')
    .description('Durable money flows across a payments service.')
    .version(packageVersion(), '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    })
    .exitOverride()
    // Arguments after `temporal` belong to it.
    .enablePositionalOptions()
    .helpCommand(false)
    .addHelpText('after', `${ENVIRONMENT_HELP}\n${EXIT_CODES_HELP}\n\nExample:\n  towline up`);

  for (const [heading, commands] of Object.entries(COMMANDS)) {
    for (const add of commands) {
      add(program, run, context);
      program.commands.at(-1)?.helpGroup(heading);
    }
  }
  return program;
}

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
    // commander has printed it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
    const explained = explainError(error);
    if (explained === undefined) context.err(error instanceof Error ? (error.stack ?? error.message) : String(error));
    else context.err(context.colors.red(explained.sentence));
    return explained?.exitCode ?? EXIT.refused;
  }
}
