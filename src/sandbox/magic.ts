import { Big } from 'big.js';

/** `.13` of 1000.13; undefined for an amount that has more or fewer than two decimals. */
export function magicDecimals(amount: string | number): string | undefined {
  return /(\.\d\d)$/.exec(new Big(amount).toFixed())?.[1];
}
