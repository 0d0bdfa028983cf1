import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { flowText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly note: string;
}

export function addAcknowledgeCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('acknowledge')
    .description(
      'A proven event, or an answer, says that a flow ended otherwise than it did: the alarm stays until a person has seen to ' +
        'it. This records who did, and why, and ends the alarm. The state of the flow stays as it is. It needs the role operator.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .requiredOption('--note <text>', 'what was done; kept in the audit log')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  towline acknowledge bank-withdrawal/order-1001 --note "sent back; the customer is credited"',
    )
    .action((flow: string, { note, ...options }: Options) =>
      run(async () => {
        const gateway = createGatewayClient(gatewayAccess(context));
        const view = await gateway.acknowledge(flowArgument(flow), { note });
        print(context, options, view, (shown) => flowText(context, shown));
        return EXIT.done;
      }),
    );
}
