import { APPROVE_QUOTE, type FourEyes } from '../protocol/four-eyes.js';
import { limitBelow, type Money } from './largest-amount.js';

/**
 * Whether one person is not enough.
 * @param amounts of the flow. None if they are not known: then a quote counts as above every limit
 */
export function needsSecondPerson(
  { actions, above }: FourEyes,
  action: string,
  amounts: readonly Money[] = [],
): boolean {
  if (action !== APPROVE_QUOTE) return actions.includes(action);
  if (amounts.length === 0) return above.size > 0;
  return amounts.some((money) => limitBelow(above, money) !== undefined);
}
