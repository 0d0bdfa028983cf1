import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess } from '../gateway-client/access.js';
import { FLOW_ARGUMENT, flowArgument } from '../gateway-client/flow-argument.js';
import { createGatewayClient } from '../gateway-client/gateway-client.js';
import type { RunCommand } from '../run-command.js';
import { flowText } from '../view/flow-text.js';
import { print, type PrintOptions } from '../view/print.js';

export function addShowCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('show')
    .summary('show a flow: state, timeline, and what it waits for')
    .description('Shows a flow: its state, its timeline and, where it is parked, the evidence and the legal actions.')
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline show bridge-transfer/order-1001')
    .action((flow: string, options: PrintOptions) =>
      run(async () => {
        const view = await createGatewayClient(gatewayAccess(context.env)).show(flowArgument(flow));
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
