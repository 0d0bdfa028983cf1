import type { z } from 'zod';
import { checkAmount } from '../money.js';

/** For `superRefine`: the amount has no more decimals than its currency or token has. Names the member at fault. */
export function fitsCurrency<A extends string, C extends string>(amountMember: A, currencyMember: C) {
  return (input: { readonly [M in A | C]?: string | undefined }, context: z.core.$RefinementCtx): void => {
    const { [amountMember]: amount, [currencyMember]: currency } = input as Record<string, string | undefined>;
    checkFits(context, [amountMember], amount, currency);
  };
}

/** The same for members further inside. */
export function checkFits(
  context: z.core.$RefinementCtx,
  path: readonly string[],
  amount: string | undefined,
  currency: string | undefined,
): void {
  if (amount === undefined || currency === undefined) return;
  const problem = checkAmount(amount, currency);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: [...path], message: problem });
}
