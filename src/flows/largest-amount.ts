import { compareAmounts, toMsat } from '../money.js';
import type { FlowDefinition, MoneyOfFlow } from './flow.js';

/** The largest amount of one flow, by currency or token in capitals; others have no limit. */
export type MaxAmounts = ReadonlyMap<string, string>;

/** The member that is above the limit, and a sentence without its value. */
export interface TooMuch {
  readonly path: string;
  readonly message: string;
}

/** Whether a flow moves more than `MAX_AMOUNTS` allows. `input` is parsed by the definition. */
export function tooMuch<Input>(definition: AmountsOf<Input>, input: Input, limits: MaxAmounts): TooMuch | undefined {
  for (const money of amountsOf(definition, input)) {
    const found = limitBelow(limits, money);
    if (found === undefined) continue;
    const [unit, limit] = found;
    return { path: money.member, message: `must be at most ${limit} ${unit}, the limit that MAX_AMOUNTS sets` };
  }
  return undefined;
}

type AmountsOf<Input> = Pick<FlowDefinition<Input>, 'moneyOf' | 'amountsOf'>;

/** All that the input names. Empty if no money moves. */
function amountsOf<Input>({ moneyOf, amountsOf: all }: AmountsOf<Input>, input: Input): readonly MoneyOfFlow[] {
  const money = moneyOf?.(input);
  return all?.(input) ?? (money === undefined ? [] : [money]);
}

/** Those that a person decides about, who approves a quote. */
export const decidedAmounts = <Input>(definition: AmountsOf<Input>, input: Input): readonly Money[] =>
  amountsOf(definition, input).filter(({ isPaidIn }) => isPaidIn !== true);

/** One amount of a flow. */
export type Money = Pick<MoneyOfFlow, 'amount' | 'currency'>;

/** The first limit that the amount is above. */
export const limitBelow = (limits: MaxAmounts, money: Money): readonly [unit: string, limit: string] | undefined =>
  [...limits].find(([unit, limit]) => isAbove(money, unit, limit));

/** Bitcoin has several units, and a limit in one of them holds in all. */
function isAbove({ amount, currency }: Money, unit: string, limit: string): boolean {
  if (unit === currency) return compareAmounts(amount, limit) > 0;
  const [given, most] = [toMsat(amount, currency), toMsat(limit, unit)];
  return given !== null && most !== null && compareAmounts(given, most) > 0;
}
