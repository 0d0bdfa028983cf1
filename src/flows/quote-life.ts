import { QUOTE_VALIDITY_SECONDS } from '../contract/vocabulary.js';

export const QUOTE_LIFE_MS = QUOTE_VALIDITY_SECONDS * 1_000;

/**
 * How long a quote lives: a duration between two stamps of the service's own clock, so that ours does not matter. Never
 * more than the interface says.
 */
export function quoteLifeMs(quote: {
  readonly created_at?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
}): number {
  const lifeMs = Date.parse(quote.expires_at ?? '') - Date.parse(quote.created_at ?? '');
  return Number.isFinite(lifeMs) && lifeMs > 0 ? Math.min(lifeMs, QUOTE_LIFE_MS) : QUOTE_LIFE_MS;
}
