import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { exitCodeOf } from '../exit-codes.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { createUnseen, timelineLine } from '../flow-text.js';
import { paintedState, printable } from '../print.js';

const EVERY_MS = 1_000;

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('watch')
    .description("Prints a flow's timeline as it grows, until the flow ends or parks. The exit code says which.")
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--json', 'print each entry as a line of JSON')
    .addHelpText('after', '\nExample:\n  towline watch bridge-transfer/order-1001')
    .action((flow: string, { json = false }: { json?: boolean }) =>
      run(async () => {
        const gateway = connectGateway(context);
        const flowId = flowArgument(flow);
        const unseen = createUnseen();
        for (;;) {
          const { state, timeline, parked } = printable(await gateway.show(flowId));
          for (const entry of unseen(timeline)) {
            context.out(json ? JSON.stringify(entry) : timelineLine(context, entry));
          }
          if (state !== 'running') {
            const actions =
              parked === null ? '' : `: ${parked.reason}. What can be ordered: ${parked.actions.join(', ')}`;
            if (!json) context.out(`${flowId} is ${paintedState(context, state)}${actions}`);
            return exitCodeOf(state);
          }
          await sleep(EVERY_MS);
        }
      }),
    );
}
