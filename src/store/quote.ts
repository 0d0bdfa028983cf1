/** A quote that passed through a gateway. */
export interface QuoteTerms {
  /** The service's own id of it. */
  readonly rateId: string;
  /** From its creation to its end, by the service's own clock, ms. */
  readonly lifeMs: number;
  /** Decimal strings; null where the service did not say. */
  readonly cryptoAmount: string | null;
  readonly cryptoUnit: string | null;
  /** What was asked for. */
  readonly sourceAmount: string;
  readonly sourceCurrency: string;
  readonly chain: string;
  readonly token: string;
}

export interface RememberedQuote extends QuoteTerms {
  /** By the store's clock, from before it was asked for. */
  readonly ageMs: number;
}

/** Quotes, by account and `rate_id`: whoever deposits with one may be another process than the one that saw it. */
export interface QuoteStore {
  /** @param tookMs how long ago, by a monotonic clock, the service was asked */
  remember(account: string, quote: QuoteTerms, tookMs: number): Promise<void>;
  recall(account: string, rateId: string): Promise<RememberedQuote | undefined>;
}
