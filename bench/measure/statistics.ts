/** The value below which a share of all values lies; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  const [low, high] = [sorted[sorted.length % 2 === 1 ? upper : upper - 1], sorted[upper]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}
