import type { Command } from 'commander';
import { FLOW_KINDS, FLOW_STATES, PARK_REASONS } from '../../protocol/vocabulary.js';
import type { FlowPage, ListQuery, ListedFlow } from '../../sdk/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { connectGateway } from '../gateway-client.js';
import { wholeNumberArgument, oneOfArgument } from '../arguments.js';
import { print, type PrintOptions, plainTable, paintedState } from '../print.js';
import { systemClock } from '../../clock.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('list')
    .description(
      'Lists flows, newest first within the page; of several pages, the first ones have the flows that still run. A flow that has ' +
        'just changed may be listed as before for a second.',
    )
    .option('--kind <kind>', 'only this kind', oneOfArgument(FLOW_KINDS))
    .option('--state <state>', `only this state: ${FLOW_STATES.join(', ')}`, oneOfArgument(FLOW_STATES))
    .option(
      '--reason <reason>',
      'only flows parked for this reason, such as no_settlement',
      oneOfArgument(PARK_REASONS),
    )
    .option('--reference <reference>', 'only this reference')
    .option('--limit <number>', 'at most so many, up to 500', wholeNumberArgument(1, 500), 50)
    .option('--after <next>', 'the page behind the one that ended with this')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  towline list --state parked\n  towline list --reason no_settlement --limit 100',
    )
    .action(({ json = false, ...query }: ListQuery & PrintOptions) =>
      run(async () => {
        const answer = await connectGateway(context).list(query);
        // Temporal gives those that run first, and then the latest to end.
        const flows = answer.flows.toSorted((one, other) => other.startedAt.localeCompare(one.startedAt));
        print(context, { json }, { ...answer, flows }, (page) => pageText(context, page));
        return EXIT.done;
      }),
    );
}

function pageText(look: Pick<CliContext, 'colors'>, { flows, next }: FlowPage): string {
  const table = flows.length === 0 ? 'No flows.' : flowTable(look, flows);
  return next === null ? table : `${table}\nMore: the same command with --after ${next}`;
}

/** Why and since when a flow is parked is shown if one is. */
function flowTable(look: Pick<CliContext, 'colors'>, flows: readonly ListedFlow[]): string {
  const isOneParked = flows.some(({ state }) => state === 'parked');
  const rows = flows.map((flow) => [
    flow.flowId,
    `${paintedState(look, flow.state)}${flow.contradicted ? ' (contradicted)' : ''}${flow.proposed === null ? '' : ` (proposed: ${flow.proposed.action})`}`,
    ...(isOneParked ? parkedCells(flow) : []),
    flow.amount === null ? '' : `${flow.amount} ${flow.currency ?? ''}`,
    flow.startedAt,
    flow.closedAt ?? '',
  ]);
  const head = ['flow', 'state', ...(isOneParked ? ['reason', 'for'] : []), 'amount', 'started', 'ended'];
  return plainTable(look, head, rows);
}

function parkedCells({ state, reason, since }: ListedFlow): readonly string[] {
  if (state !== 'parked') return ['', ''];
  return [reason ?? '', since === null ? 'no worker answers' : ageText(systemClock.nowMs() - Date.parse(since))];
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `3 d`, `5 h`, `12 min`: rounded down, in the largest unit that has one. */
function ageText(ageMs: number): string {
  const unit = UNITS.find(([, unitMs]) => ageMs >= unitMs);
  return unit === undefined ? 'under 1 min' : `${Math.floor(ageMs / unit[1])} ${unit[0]}`;
}
