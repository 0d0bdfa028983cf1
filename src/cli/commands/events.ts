import type { Command } from 'commander';
import type { EventQuery, ShownEvent } from '../../sdk/index.js';
import { wholeNumberArgument } from '../arguments.js';
import { askBefore, type CliContext, type RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { TRUST_EVENT } from '../../protocol/four-eyes.js';
import { connectGateway, flowArgument } from '../gateway-client.js';
import { print, type PrintOptions, plainTable } from '../print.js';

interface ListOptions extends EventQuery, PrintOptions {
  readonly flow?: string;
}

interface ReplayOptions extends PrintOptions {
  readonly trust?: boolean;
  readonly note?: string;
  readonly flow?: string;
  readonly dryRun?: boolean;
  readonly yes?: true;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const client = () => connectGateway(context);
  const events = program
    .command('events')
    .description('The inbox: every webhook and callback that came, and its state.')
    .addHelpText('after', '\nExample:\n  towline events list --state unverified');

  events
    .command('list', { isDefault: true })
    .description('Lists events, newest first.')
    .option('--flow <flow>', 'only those of this flow')
    .option(
      '--state <state>',
      'only this state: waiting, delivered, applied, duplicate, unverified, late, unmatched, conflicting, quarantined',
    )
    .option('--limit <number>', 'at most so many, up to 500', wholeNumberArgument(1, 500), 50)
    .option('--after <id>', 'go on after this event')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline events list --flow bridge-transfer/order-1001')
    .action(({ flow, json = false, ...query }: ListOptions) =>
      run(async () => {
        const flowId = flow === undefined ? undefined : flowArgument(flow);
        const page = await client().events({ ...query, flowId });
        const more = page.next === null ? '' : `\nMore: --after ${page.next}`;
        print(context, { json }, page, (shown) =>
          shown.events.length === 0 ? 'No events.' : eventTable(context, shown.events) + more,
        );
        return EXIT.done;
      }),
    );

  events
    .command('show')
    .description('Shows an event with its body, which may hold personal data. Needs a token of an operator.')
    .argument('<id>', 'id of the event')
    .addHelpText('after', '\nExample:\n  towline events show evt_0d3c')
    .action((id: string) =>
      run(async () => {
        print(context, { json: true }, await client().event(id), () => '');
        return EXIT.done;
      }),
    );

  events
    .command('replay')
    .description('Delivers an event to its flow again. Needs a token of an operator.')
    .argument('<id>', 'id of the event')
    .option('--trust', 'vouch for it: the flow takes it as proven by a person')
    .option('--flow <flow>', 'its flow, if it is unmatched')
    .option('--note <text>', 'the reason; kept in the audit log')
    .option('--dry-run', 'only say what would happen')
    .option('--yes', 'do not ask, at a terminal, before --trust or --flow')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline events replay evt_0d3c --dry-run')
    .action((id: string, { trust = false, dryRun = false, flow, note, yes, ...options }: ReplayOptions) =>
      run(async () => {
        // A proven event without a flow proves whatever a person says that it is about.
        const vouches = trust || flow !== undefined;
        if (vouches && !dryRun && yes !== true) await askBefore(context, TRUST_EVENT, id);
        const of = {
          ...(flow === undefined ? {} : { flowId: flowArgument(flow) }),
          ...(note === undefined ? {} : { note }),
        };
        const replay = await client().replay(id, { trust, dryRun, ...of });
        print(context, options, replay, ({ would }) => (dryRun ? `It would: ${would}` : `Ordered. It is to: ${would}`));
        return EXIT.done;
      }),
    );

  events
    .command('withdraw')
    .description(
      'Takes back an order to vouch for an event, which waits for a second person. Needs a token of an operator.',
    )
    .argument('<id>', 'id of the event')
    .option('--flow <flow>', 'its flow, if it is unmatched')
    .option('--note <text>', 'the reason; kept in the audit log')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline events withdraw evt_0d3c --note "the provider denies it"')
    .action((id: string, { flow, note, ...options }: Omit<ReplayOptions, 'trust' | 'dryRun' | 'yes'>) =>
      run(async () => {
        const of = {
          ...(flow === undefined ? {} : { flowId: flowArgument(flow) }),
          ...(note === undefined ? {} : { note }),
        };
        print(context, options, await client().withdrawReplay(id, of), () => 'Withdrawn.');
        return EXIT.done;
      }),
    );
}

function eventTable(look: Pick<CliContext, 'colors'>, events: readonly ShownEvent[]): string {
  const rows = events.map(({ id, state, source, status, proof, flowId, receivedAt, repeats }) => [
    id,
    state,
    source,
    status ?? '',
    proof ?? 'none',
    flowId ?? '',
    receivedAt,
    repeats === 0 ? '' : String(repeats),
  ]);
  return plainTable(look, ['event', 'state', 'source', 'status', 'proof', 'flow', 'received', 'repeats'], rows);
}
