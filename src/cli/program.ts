import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-root.js';
import { ORDERS } from './commands/orders.js';
import type { CliContext, RunCommand } from './context.js';
import { EXIT, EXIT_CODES_HELP } from './exit-codes.js';

type AddCommand = (program: Command, run: RunCommand, context: CliContext) => void;
type CommandOfProgram = readonly [
  name: string,
  summary: string,
  load: () => Promise<{ readonly addCommand: AddCommand }>,
];

/**
 * A new command is one file and one line here; an order to a flow is a row of `ORDERS` alone. A command's file is loaded
 * only to run it: `list` needs no Temporal.
 */
const COMMANDS: Readonly<Record<string, readonly CommandOfProgram[]>> = {
  'Run it:': [
    ['up', 'run everything on this machine, and play a demo (npm start)', () => import('./commands/up.js')],
    ['gateway', 'run a gateway: webhooks in, flow operations, codec server', () => import('./commands/gateway.js')],
    ['worker', 'run a worker: workflows and activities', () => import('./commands/worker.js')],
    ['sandbox', 'run the sandbox: the service itself, locally', () => import('./commands/sandbox.js')],
    ['doctor', 'check settings, store, Temporal, service, token and clock', () => import('./commands/doctor.js')],
    [
      'notify',
      'send a test notification to the receivers of parked flows and alarms',
      () => import('./commands/notify.js'),
    ],
    ['claims', 'close the claims of a flow that Temporal does not have any more', () => import('./commands/claims.js')],
    [
      'store',
      'back up the store, erase a flow from it; after a restore of it, begin a new epoch',
      () => import('./commands/store.js'),
    ],
    ['keys', 'payload keys: what needs them, and how to replace one', () => import('./commands/keys.js')],
    [
      'migrate',
      'bring the tables of the store up to date, before a newer release',
      () => import('./commands/migrate.js'),
    ],
    ['temporal', 'run the Temporal CLI that Towline uses', () => import('./commands/temporal.js')],
  ],
  'Flows:': [
    ['start', 'start a flow from a JSON file', () => import('./commands/start.js')],
    ['list', 'list flows, newest first', () => import('./commands/list.js')],
    ['show', 'show a flow: state, timeline, and what it waits for', () => import('./commands/show.js')],
    ['watch', 'follow a flow, until it ends or parks', () => import('./commands/watch.js')],
    ['wait', 'wait until a flow ends or parks', () => import('./commands/wait.js')],
  ],
  'Decisions:': [
    ...ORDERS.map((order): CommandOfProgram => [
      order.name,
      order.summary,
      async () => ({ addCommand: (await import('./commands/order-command.js')).orderCommand(order) }),
    ]),
    ['events', 'show the inbox: every webhook and callback, and its state', () => import('./commands/events.js')],
    ['callbacks', 'show the callbacks to callers, and send them again', () => import('./commands/callbacks.js')],
    ['give', 'give flows to another name', () => import('./commands/give.js')],
    ['audit', 'read and verify the audit log', () => import('./commands/audit.js')],
  ],
  'The account at the service:': [
    [
      'account',
      'the account at the service: create it, verify, make an API key, set its webhooks',
      () => import('./commands/account.js'),
    ],
  ],
  'Your shell:': [
    [
      'completion',
      'print a script that completes commands and options in a shell',
      () => import('./commands/completion.js'),
    ],
  ],
};

const ENVIRONMENT_HELP = `
Flows and decisions go to the gateway at GATEWAY_URL with the token TOWLINE_TOKEN; without them, to the gateway of this
machine's settings with the token of development.`;

/**
 * The command line: whole, or with one command, and of the others what `--help` shows.
 *
 * @param loaded names of the commands to load. @default all
 */
export async function createProgram(
  context: CliContext,
  run: RunCommand,
  loaded?: readonly (string | undefined)[],
): Promise<Command> {
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
    for (const [name, summary, load] of commands) {
      if (loaded === undefined || loaded.includes(name)) (await load()).addCommand(program, run, context);
      else program.command(name);
      program.commands.at(-1)?.summary(summary).helpGroup(heading);
    }
  }
  return program;
}

/** Runs one command line to its exit code. Never rejects. */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.done;
  const run: RunCommand = async (work) => {
    exitCode = await work();
  };
  const asked = args.find((arg) => !arg.startsWith('-'));
  // Which completes all of them.
  const program = await createProgram(context, run, asked === 'completion' ? undefined : [asked]);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has printed it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
    // Knows the errors of everything.
    const { explainError } = await import('./explain-error.js');
    const explained = explainError(error);
    if (explained === undefined) context.err(error instanceof Error ? (error.stack ?? error.message) : String(error));
    else context.err(context.colors.red(explained.sentence));
    return explained?.exitCode ?? EXIT.refused;
  }
}
