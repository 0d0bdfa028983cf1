import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly to: string;
  readonly note: string;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('give')
    .description('Gives flows to another name, which sees and orders them from then on. It needs the role admin.')
    .argument('<flow...>', FLOW_ARGUMENT)
    .requiredOption('--to <name>', 'of a gateway token, or "oidc:" and the name of a person')
    .requiredOption('--note <text>', 'the reason; kept in the audit log')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  towline give onramp/order-1001 onramp/order-1002 --to shop-2 --note "a new backend"',
    )
    .action((flows: string[], { to, note, ...options }: Options) =>
      run(async () => {
        const gateway = connectGateway(context);
        const ids = flows.map(flowArgument);
        const given = [];
        for (const flowId of ids) given.push(await gateway.give(flowId, { to, note }));
        print(context, options, given, (all) =>
          all
            .map(
              ({ flowId, owner, before }) =>
                `${flowId} belongs to ${owner}, ${before === null ? 'and had no owner' : `before to ${before}`}.`,
            )
            .join('\n'),
        );
        return EXIT.done;
      }),
    );
}
