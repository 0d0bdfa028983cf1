/** Of measured durations: half of them are at most the first, 99 of 100 at most the second. */
export function percentiles(durationsMs: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}
