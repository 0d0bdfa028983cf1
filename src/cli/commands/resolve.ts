import type { Command } from 'commander';
import { askBefore, type CliContext, type RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, FLOW_ARGUMENT, flowArgument, createGatewayClient } from '../gateway-client.js';
import { isProposed, orderText } from '../flow-text.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly note: string;
  readonly event?: string;
  readonly until?: string;
  readonly yes?: true;
}

export function addResolveCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('resolve')
    .description(
      'Gives a parked flow one of the orders that it lists (towline show). Needs a token of an operator. An order that needs two ' +
        'persons is proposed by the first; another one confirms it by the same command.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .argument('<action>', 'one of the actions that the flow lists, such as keep-waiting')
    .requiredOption('--note <text>', 'why; kept with the flow')
    .option('--event <id>', 'the event that is meant, for trust-settlement, accept-event and dismiss-event')
    .option('--until <time>', 'for keep-waiting: the new deadline in UTC, such as 2026-12-01T12:00:00Z; within 90 days')
    .option('--yes', 'do not ask, at a terminal, before an order that needs two persons by default')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  towline resolve bridge-transfer/order-1001 mark-completed --note "the recipient has it, ticket 77"',
    )
    .action((flow: string, action: string, { note, event, until, yes, ...options }: Options) =>
      run(async () => {
        if (yes !== true) await askBefore(context, action, flow);
        const gateway = createGatewayClient(gatewayAccess(context));
        const order = {
          action,
          note,
          ...(event === undefined ? {} : { eventId: event }),
          ...(until === undefined ? {} : { until }),
        };
        const view = await gateway.resolve(flowArgument(flow), order);
        print(context, options, view, (shown) => orderText(context, shown, action));
        return isProposed(view, action) ? EXIT.proposed : EXIT.done;
      }),
    );
}
