/** One budget, and what was measured of it. */
export interface Finding {
  /** Its name: `P2`. */
  readonly budget: string;
  readonly what: string;
  readonly limit: { readonly bound: 'at least' | 'at most'; readonly value: number };
  readonly unit: '×' | 'flows' | 'ms' | 'MB' | 'kB' | 'calls' | 'events' | 'actions' | 'answers' | '/s';
  readonly measured: number;
  /** Rates, durations and CPU that the figure was made of. */
  readonly figures: string;
}

/** NaN, which is what no measurement gives, meets nothing. */
export function isMet({ limit, measured }: Finding): boolean {
  return limit.bound === 'at least' ? measured >= limit.value : measured <= limit.value;
}

/** In place of the findings of a benchmark that failed, or that lacks what it needs here. */
export const notMeasured = (budget: string, why: string): Finding => ({
  budget,
  what: 'was not measured',
  limit: { bound: 'at most', value: 0 },
  unit: '×',
  measured: Number.NaN,
  figures: why,
});
