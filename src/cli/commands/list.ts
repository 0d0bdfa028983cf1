import type { Command } from 'commander';
import { FLOW_KINDS, FLOW_STATES } from '../../protocol/vocabulary.js';
import type { ListQuery, ListedFlow } from '../../sdk/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { gatewayAccess, createGatewayClient } from '../gateway-client.js';
import { wholeNumberArgument, oneOfArgument } from '../arguments.js';
import { print, type PrintOptions, plainTable, paintedState } from '../print.js';

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

function flowTable(look: Pick<CliContext, 'colors'>, flows: readonly ListedFlow[]): string {
  const rows = flows.map(({ flowId, state, startedAt, closedAt }) => [
    flowId,
    paintedState(look, state),
    startedAt,
    closedAt ?? '',
  ]);
  return plainTable(look, ['flow', 'state', 'started', 'ended'], rows);
}
