import { compareAmounts } from '../money.js';
import { APPROVE_QUOTE, type FourEyes } from '../protocol/four-eyes.js';

/**
 * Whether one person is not enough.
 * @param money of the flow. Undefined if it is not known: then a quote counts as above every limit
 */
export function needsSecondPerson(
  { actions, above }: FourEyes,
  action: string,
  money?: { readonly amount: string; readonly currency: string },
): boolean {
  if (action !== APPROVE_QUOTE) return actions.includes(action);
  if (money === undefined) return above.size > 0;
  const limit = above.get(money.currency);
  return limit !== undefined && compareAmounts(money.amount, limit) > 0;
}
