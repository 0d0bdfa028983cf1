import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly note?: string;
}

export function addCancelCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('cancel')
    .description('Cancels a flow. Once money may have moved this is refused: the exit code is then 1.')
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--note <text>', 'why; kept with the flow')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline cancel bridge-transfer/order-1001 --note "ordered twice"')
    .action((flow: string, options: Options) =>
      run(async () => {
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.cancel(flowArgument(flow), options);
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
