import type { Command } from 'commander';
import { wholeNumberArgument } from '../arguments.js';
import type { CallbackQuery } from '../../towline/index.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess } from '../gateway-client/access.js';
import { FLOW_ARGUMENT, flowArgument } from '../gateway-client/flow-argument.js';
import { createGatewayClient } from '../gateway-client/gateway-client.js';
import type { RunCommand } from '../run-command.js';
import { callbacksTable, callbacksText } from '../view/callbacks-text.js';
import { print, type PrintOptions } from '../view/print.js';

interface Options extends CallbackQuery, PrintOptions {}

export function addCallbacksCommand(program: Command, run: RunCommand, context: CliContext): void {
  const client = () => createGatewayClient(gatewayAccess(context.env));
  const callbacks = program
    .command('callbacks')
    .summary('look at the callbacks to callers, and have them sent again')
    .description('The callbacks of one flow to its caller; without a flow, those that could not be delivered.')
    .argument('[flow]', FLOW_ARGUMENT)
    .option('--state <state>', 'without a flow: undelivered, or open for all that go on', 'undelivered')
    .option('--limit <number>', 'without a flow: at most so many, up to 500', wholeNumberArgument(1, 500), 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline callbacks bridge-transfer/order-1001')
    .action((flow: string | undefined, { json = false, ...query }: Options) =>
      run(async () => {
        if (flow === undefined) {
          print(context, { json }, await client().callbacks(query), (shown) =>
            callbacksTable(context, shown.callbacks),
          );
        } else {
          const shown = await client().callbacksOf(flowArgument(flow));
          print(context, { json }, shown, (found) => callbacksText(context, found));
        }
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
