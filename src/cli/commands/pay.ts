import type { Command } from 'commander';
import { JsonText } from '../../sdk/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { jsonText, print, type PrintOptions } from '../print.js';
import { flowText } from '../flow-text.js';

export function addPayCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('pay')
    .description(
      'Has the invoice of an invoice-payment paid, once: the same order again changes nothing, another one is refused.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .argument(
      '<file>',
      "JSON file with mobileMoney, and amount and currency if they are not the invoice's; - for stdin",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline pay invoice-payment/order-1001 payer.json')
    .action((flow: string, file: string, options: PrintOptions) =>
      run(async () => {
        const order = await jsonText(context, file);
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.pay(flowArgument(flow), new JsonText(order));
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
