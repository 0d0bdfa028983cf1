import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

export function addRefundInvoiceCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('refund-invoice')
    .description(
      'Gives the flow of an offramp an invoice of the recipient of the refund. It is checked, and shown to a person who ' +
        'hands it to the service.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .argument('<invoice>', 'the Lightning invoice (BOLT 11)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline refund-invoice offramp/order-1001 lnbc21u1...')
    .action((flow: string, invoice: string, options: PrintOptions) =>
      run(async () => {
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.provideRefundInvoice(flowArgument(flow), invoice);
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
