import { compareAmounts } from '../money.js';
import type { FlowDefinition } from './flow.js';

/** The largest amount of one flow, by currency or token in capitals; others have no limit. */
export type MaxAmounts = ReadonlyMap<string, string>;

/** The member that is above the limit, and a sentence without its value. */
export interface TooMuch {
  readonly path: string;
  readonly message: string;
}

/** Whether a flow moves more than `MAX_AMOUNTS` allows. `input` is parsed by the definition. */
export function tooMuch<Input>(
  definition: Pick<FlowDefinition<Input>, 'moneyOf'>,
  input: Input,
  limits: MaxAmounts,
): TooMuch | undefined {
  const money = definition.moneyOf?.(input);
  if (money === undefined) return undefined;
  const limit = limits.get(money.currency);
  if (limit === undefined || compareAmounts(money.amount, limit) <= 0) return undefined;
  return { path: money.member, message: `must be at most ${limit} ${money.currency}, the limit that MAX_AMOUNTS sets` };
}
