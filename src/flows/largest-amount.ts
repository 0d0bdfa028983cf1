import { compareAmounts, toMsat } from '../money.js';
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
  for (const [unit, limit] of limits) {
    if (!isAbove(money, unit, limit)) continue;
    return { path: money.member, message: `must be at most ${limit} ${unit}, the limit that MAX_AMOUNTS sets` };
  }
  return undefined;
}

/** Bitcoin has several units, and a limit in one of them holds in all. */
function isAbove({ amount, currency }: { amount: string; currency: string }, unit: string, limit: string): boolean {
  if (unit === currency) return compareAmounts(amount, limit) > 0;
  const [given, most] = [toMsat(amount, currency), toMsat(limit, unit)];
  return given !== null && most !== null && compareAmounts(given, most) > 0;
}
