import type { Command } from 'commander';
import { FLOW_KINDS, FLOW_STATES } from '../../flows/vocabulary.js';
import type { ListQuery } from '../../towline/index.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess } from '../gateway-client/access.js';
import { createGatewayClient } from '../gateway-client/gateway-client.js';
import { wholeNumberArgument, oneOfArgument } from '../arguments.js';
import type { RunCommand } from '../run-command.js';
import { flowTable } from '../view/flow-table.js';
import { print, type PrintOptions } from '../view/print.js';

export function addListCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('list')
    .summary('list flows, newest first')
    .description('Lists flows, newest first. A flow that has just changed may be listed as before for a second.')
    .option('--kind <kind>', 'only this kind', oneOfArgument(FLOW_KINDS))
    .option('--state <state>', `only this state: ${FLOW_STATES.join(', ')}`, oneOfArgument(FLOW_STATES))
    .option('--reference <reference>', 'only this reference')
    .option('--limit <number>', 'at most so many, up to 500', wholeNumberArgument(1, 500), 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline list --state parked')
    .action(({ json = false, ...query }: ListQuery & PrintOptions) =>
      run(async () => {
        const answer = await createGatewayClient(gatewayAccess(context.env)).list(query);
        print(context, { json }, answer, ({ flows }) => (flows.length === 0 ? 'No flows.' : flowTable(context, flows)));
        return EXIT.done;
      }),
    );
}
