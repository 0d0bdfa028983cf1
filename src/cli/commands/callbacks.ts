import type { Command } from 'commander';
import type { CallbackListJson, CallbackQuery, CallbacksJson } from '../../sdk/index.js';
import { wholeNumberArgument } from '../arguments.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { print, type PrintOptions, plainTable } from '../print.js';

interface Options extends CallbackQuery, PrintOptions {}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const client = () => connectGateway(context);
  const callbacks = program
    .command('callbacks')
    .description(
      'The callbacks of one flow to its caller; without a flow, those that could not be delivered, and receivers that do not answer.',
    )
    .argument('[flow]', FLOW_ARGUMENT)
    .option('--state <state>', 'without a flow: undelivered, or open for all that go on', 'undelivered')
    .option('--limit <number>', 'without a flow: at most so many, up to 500', wholeNumberArgument(1, 500), 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline callbacks bridge-transfer/order-1001')
    .action((flow: string | undefined, { json = false, ...query }: Options) =>
      run(async () => {
        if (flow === undefined) {
          print(context, { json }, await client().callbacks(query), (shown) => callbackList(context, shown));
        } else {
          const shown = await client().callbacksOf(flowArgument(flow));
          print(context, { json }, shown, (found) => callbacksText(context, found));
        }
        return EXIT.done;
      }),
    );

  callbacks
    .command('secret')
    .summary('show what signs the callbacks to a name')
    .description('The secrets that sign the callbacks about the flows of a name. The first signs: take any of them.')
    .argument('[name]', "of a token; another one than your own needs an admin's token")
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline callbacks secret shop')
    .action((name: string | undefined, _options: unknown, command: Command) =>
      run(async () => {
        const shown = await client().callbackSecrets(name);
        print(context, command.optsWithGlobals<PrintOptions>(), shown, ({ secrets }) => secrets.join('\n'));
        return EXIT.done;
      }),
    );

  callbacks
    .command('resend')
    .description('Sends the newest callback of a flow again, now and under its own id. Needs a token of an operator.')
    .argument('<flow>', FLOW_ARGUMENT)
    .addHelpText('after', '\nExample:\n  towline callbacks resend bridge-transfer/order-1001')
    .action((flow: string) =>
      run(async () => {
        const shown = await client().resendCallback(flowArgument(flow));
        print(context, {}, shown, (found) => callbacksText(context, found));
        return EXIT.done;
      }),
    );
}

type Look = Pick<CliContext, 'colors'>;

/** The callbacks of one flow, for a person: how far they got, and why no further. */
function callbacksText({ colors }: Look, callbacks: CallbacksJson): string {
  const { flowId, state, to, current, since, attempts, lastFailure, nextAttemptAt, delivered } = callbacks;
  const facts: [string, string | null][] = [
    ['state', state === 'none' ? 'none: it has no callbackUrl, or has not changed yet' : state],
    ['to', to],
    ['current', current === null ? null : `${current.flowState} (${current.stage}), ${current.id}`],
    ['since', since],
    ['attempts', current === null ? null : String(attempts)],
    ['last', lastFailure === null ? null : `${lastFailure.problem} (${lastFailure.at})`],
    ['next', nextAttemptAt],
    ['delivered', delivered === null ? null : `${delivered.flowState} (${delivered.stage}), ${delivered.at}`],
  ];
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    colors.bold(flowId),
    ...shown.map(([what, text]) => `  ${what.padEnd(10)}${text}`),
    ...(state === 'undelivered' ? [`  towline callbacks resend ${flowId}`] : []),
  ].join('\n');
}

function callbackList(look: Look, { callbacks, openCircuits }: CallbackListJson): string {
  const rows = callbacks.map(({ flowId, startedAt }) => [flowId, startedAt]);
  const dead = openCircuits.map(({ origin, since, flows }) => [origin, since, String(flows)]);
  return [
    rows.length === 0 ? 'None.' : plainTable(look, ['flow', 'callbacks since'], rows),
    ...(dead.length === 0 ? [] : [plainTable(look, ['receiver without answers', 'since', 'flows that wait'], dead)]),
  ].join('\n\n');
}
