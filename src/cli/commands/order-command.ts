import type { Command } from 'commander';
import { JsonText } from '../../sdk/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { flowText, isProposed, orderText } from '../flow-text.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { jsonText, print, type PrintOptions } from '../print.js';
import type { Order } from './orders.js';

/** The command of a row of `ORDERS`. */
export const orderCommand =
  (order: Order<never>) =>
  (program: Command, run: RunCommand, context: CliContext): void => {
    const { arguments: words = {}, files = {}, required = {}, options = {} } = order;
    const command = program.command(order.name).description(order.description).argument('<flow>', FLOW_ARGUMENT);
    for (const [name, text] of Object.entries({ ...words, ...files })) command.argument(`<${name}>`, text);
    for (const [flags, text] of Object.entries(required)) command.requiredOption(flags, text);
    for (const [flags, text] of Object.entries(options)) command.option(flags, text);
    command
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  towline ${order.example}`)
      .action(() =>
        run(async () => {
          const [flow = '', ...rest] = command.args;
          const given: Record<string, unknown> = command.opts();
          for (const [at, name] of Object.keys({ ...words, ...files }).entries()) {
            const word = rest[at] ?? '';
            given[name] = name in files ? new JsonText(await jsonText(context, word)) : word;
          }
          const flowId = flowArgument(flow);
          // The row has the type of what is made from its own arguments and options.
          const view = await order.send(connectGateway(context), flowId, given as never, context);
          const action = order.confirmed?.(given as never);
          print(context, command.opts<PrintOptions>(), view, (shown) =>
            action === undefined ? flowText(context, shown) : orderText(context, shown, action),
          );
          return action !== undefined && isProposed(view, action) ? EXIT.proposed : EXIT.done;
        }),
      );
  };
