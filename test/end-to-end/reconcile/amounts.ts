/** Arithmetic of its own: whole units of 10^-30 in BigInt. */
const DECIMALS = 30;

export function units(amount: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,30}))?$/.exec(amount);
  if (match === null) throw new Error(`the ledger has an amount that is none: ${amount}`);
  const [, sign, whole = '', fraction = ''] = match;
  const absolute = BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  return sign === '-' ? -absolute : absolute;
}

/** Sums by key. */
export function sumBy<T>(items: Iterable<T>, keyOf: (item: T) => string, amountOf: (item: T) => bigint) {
  const sums = new Map<string, bigint>();
  for (const item of items) {
    const key = keyOf(item);
    sums.set(key, (sums.get(key) ?? 0n) + amountOf(item));
  }
  return sums;
}
