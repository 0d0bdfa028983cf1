import type { Command } from 'commander';
import { CLOSED_AS, type ClosedAs } from '../../api/operations.js';
import type { CliContext, RunCommand } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { print, type PrintOptions } from '../print.js';

interface Options extends PrintOptions {
  readonly as: string;
  readonly note: string;
  readonly yes?: true;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const claims = program
    .command('claims')
    .addHelpText('after', '\nExample:\n  towline claims close onramp/order-1001 --as not-executed --note "ticket 77"');
  claims
    .command('close')
    .description(
      'Closes the claims of a flow that Temporal does not have any more, or that was terminated and is not to be resumed: ' +
        'nothing is sent under them from then on. Refused while the flow runs, while a POST of it may be under way, and ' +
        'against a proven event. Needs a token of an admin.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .requiredOption('--as <end>', `how its payment ended: ${CLOSED_AS.join(', ')}`)
    .requiredOption('--note <text>', 'why; kept with the claims and in the audit log')
    .option('--yes', 'do not ask at a terminal')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline claims close onramp/order-1001 --as not-executed --note "ticket 77"')
    .action((flow: string, { as, note, yes, ...options }: Options) =>
      run(async () => {
        const end = CLOSED_AS.find((one) => one === as);
        if (end === undefined) throw new CliError(`--as is "${as}": it must be one of ${CLOSED_AS.join(', ')}.`);
        const flowId = flowArgument(flow);
        if (yes !== true && (await context.confirm?.(question(flowId, end))) === false)
          throw new CliError('Nothing was closed.');
        const closed = await connectGateway(context).closeClaims(flowId, { as: end, note });
        print(context, options, closed, (shown) =>
          [
            `The claims of ${flowId} are closed as ${end}.`,
            ...shown.claims.map(({ operation, reference, phase }) => `  ${operation} ${reference}: ${phase}`),
          ].join('\n'),
        );
        return EXIT.done;
      }),
    );
}

const question = (flowId: string, as: ClosedAs): string =>
  `Nothing is sent for ${flowId} any more, and its caller may pay again. Close its claims as ${as}?`;
