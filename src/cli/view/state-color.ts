import type { FlowState } from '../../flows/vocabulary.js';
import type { CliContext } from '../context.js';

/** A state in the colour of what it asks of a person. */
export function paintedState({ colors }: Pick<CliContext, 'colors'>, state: FlowState): string {
  switch (state) {
    case 'completed':
    case 'refunded':
      return colors.green(state);
    case 'parked':
      return colors.yellow(state);
    case 'failed':
    case 'expired':
    case 'cancelled':
      return colors.red(state);
    case 'running':
      return colors.cyan(state);
    default:
      return state satisfies never;
  }
}
