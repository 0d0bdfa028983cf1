import type { Command } from 'commander';
import { numberArgument } from '../arguments.js';
import type { CliContext, RunCommand } from '../context.js';
import { exitCodeOf } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { waitForFlow } from '../wait-for-flow.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly timeout?: number;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('wait')
    .description('Waits until a flow ends or parks, with progress on stderr, and shows it. The exit code says which.')
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--timeout <seconds>', 'give up after that many seconds', numberArgument(0, 31_536_000))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline wait bridge-transfer/order-1001 --timeout 600')
    .action((flow: string, options: Options) =>
      run(async () => {
        const gateway = connectGateway(context);
        const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1_000;
        const view = await waitForFlow(context, gateway, flowArgument(flow), timeoutMs);
        print(context, options, view, (shown) => flowText(context, shown));
        return exitCodeOf(view.state);
      }),
    );
}
