import type { CliContext } from '../context.js';
import type { ListedFlow } from '../../towline/index.js';
import { plainTable } from './plain-table.js';
import { paintedState } from './state-color.js';

export function flowTable(look: Pick<CliContext, 'colors'>, flows: readonly ListedFlow[]): string {
  const rows = flows.map(({ flowId, state, startedAt, closedAt }) => [
    flowId,
    paintedState(look, state),
    startedAt,
    closedAt ?? '',
  ]);
  return plainTable(look, ['flow', 'state', 'started', 'ended'], rows);
}
