import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly note?: string;
}

export function addWithdrawCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('withdraw')
    .description(
      'Takes back an order that one person gave and another one has to confirm. It needs the permission to give that order.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--note <text>', 'the reason; kept in the audit log')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline withdraw bridge-transfer/order-1001 --note "the customer called back"')
    .action((flow: string, options: Options) =>
      run(async () => {
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.withdraw(flowArgument(flow), options);
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
