import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { APPROVE_QUOTE } from '../../protocol/four-eyes.js';
import { isProposed, orderText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly note?: string;
}

export function addApproveCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('approve')
    .description('Approves the quote that a flow waits with ("approval": "required" in its input). Money moves then.')
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--note <text>', 'why; kept with the flow')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline approve bridge-transfer/order-1001')
    .action((flow: string, options: Options) =>
      run(async () => {
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.approveQuote(flowArgument(flow), options);
        print(context, options, view, (shown) => orderText(context, shown, APPROVE_QUOTE));
        return isProposed(view, APPROVE_QUOTE) ? EXIT.proposed : EXIT.done;
      }),
    );
}
