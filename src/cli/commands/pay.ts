import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess } from '../gateway-client/access.js';
import { FLOW_ARGUMENT, flowArgument } from '../gateway-client/flow-argument.js';
import { createGatewayClient } from '../gateway-client/gateway-client.js';
import { JsonText } from '../../towline/index.js';
import { jsonText } from '../json-text.js';
import type { RunCommand } from '../run-command.js';
import { flowText } from '../view/flow-text.js';
import { print, type PrintOptions } from '../view/print.js';

export function addPayCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('pay')
    .summary('pay the invoice of a flow that waits to be told so')
    .description(
      'Has the invoice of an invoice-payment paid, once: the same order again changes nothing, another one is refused.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .argument(
      '<file>',
      "JSON file with mobileMoney, and amount and currency where they are not the invoice's; - for stdin",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline pay invoice-payment/order-1001 payer.json')
    .action((flow: string, file: string, options: PrintOptions) =>
      run(async () => {
        const order = await jsonText(context, file);
        const gateway = createGatewayClient(gatewayAccess(context.env));
        const view = await gateway.pay(flowArgument(flow), new JsonText(order));
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
