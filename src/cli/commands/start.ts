import type { Command } from 'commander';
import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { JsonText } from '../../sdk/index.js';
import { oneOfArgument } from '../arguments.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT, exitCodeOf } from '../exit-codes.js';
import { connectGateway } from '../gateway-client.js';
import { jsonText, print, type PrintOptions } from '../print.js';
import { flowText } from '../flow-text.js';
import { waitForFlow } from '../wait-for-flow.js';

interface Options extends PrintOptions {
  readonly wait?: boolean;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('start')
    .description(
      'Starts the flow of an input, or finds the flow that the same input started before: repeating it is safe. ' +
        'The same reference with another input is refused.',
    )
    .argument('<kind>', `kind of flow, such as ${FLOW_KINDS[0]}`, oneOfArgument(FLOW_KINDS))
    .argument('<file>', 'JSON file with the input; - for stdin')
    .option('--wait', 'wait until it ends or parks, with progress on stderr; the exit code says which')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline start bridge-transfer transfer.json --wait')
    .action((kind: FlowKind, file: string, options: Options) =>
      run(async () => {
        const input = await jsonText(context, file);
        const gateway = connectGateway(context);
        const { alreadyStarted, ...started } = await gateway.start(kind, new JsonText(input));
        if (alreadyStarted) context.err('Already started by the same input: this start sent nothing.');
        const view = options.wait ? await waitForFlow(context, gateway, started.flowId) : started;
        print(context, options, view, (shown) => flowText(context, shown));
        return options.wait ? exitCodeOf(view.state) : EXIT.done;
      }),
    );
}
