import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('show')
    .description('Shows a flow: its state, its timeline and, if it is parked, the evidence and the legal actions.')
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline show bridge-transfer/order-1001')
    .action((flow: string, options: PrintOptions) =>
      run(async () => {
        const view = await connectGateway(context).show(flowArgument(flow));
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
