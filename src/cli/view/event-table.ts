import type { CliContext } from '../context.js';
import type { ShownEvent } from '../../towline/index.js';
import { plainTable } from './plain-table.js';

export function eventTable(look: Pick<CliContext, 'colors'>, events: readonly ShownEvent[]): string {
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
  return plainTable(look, ['event', 'state', 'door', 'says', 'proof', 'flow', 'received', 'repeats'], rows);
}
