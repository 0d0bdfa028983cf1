import type { Quote } from '../../activities/outcomes.js';
import { compareAmounts, multiplyByBps, withinBps } from '../../src/money.js';

/** A quote with the workflow time from which its life counts. */
export interface TimedQuote extends Quote {
  readonly quotedAtMs: number;
}

/** The units of Bitcoin, in thousandths of a satoshi; in hundredths of a percent, as `money.ts` multiplies exactly. */
const MSAT_IN_BPS: Readonly<Record<string, number>> = { MSAT: 1e4, SAT: 1e7, SATS: 1e7, BTC: 1e15 };

/**
 * Why a new quote is worse than the agreed one by more than the limit, as a sentence; null where it is not. Amounts are
 * compared in one unit: quotes whose units cannot be brought together are no better than none.
 */
export function whyWorse(agreed: Quote, offered: Quote, limitBps: number): string | null {
  if (agreed.cryptoAmount === null || offered.cryptoAmount === null) return 'The new quote names no amount';
  const [ours, theirs] = inOneUnit(agreed, offered) ?? [];
  const told = `The new quote (${inWords(offered)})`;
  if (ours === undefined || theirs === undefined) return `${told} is in another unit than ${inWords(agreed)}`;
  if (compareAmounts(theirs, ours) >= 0 || withinBps(theirs, limitBps, ours)) return null;
  return `${told} is worse than ${inWords(agreed)} by more than ${limitBps / 100} %`;
}

function inOneUnit(one: Quote, other: Quote): readonly [string, string] | undefined {
  const [unit, another] = [one.cryptoUnit, other.cryptoUnit].map((text) => text?.trim().toUpperCase() ?? '');
  if (unit === another) return [one.cryptoAmount ?? '0', other.cryptoAmount ?? '0'];
  const [bps, otherBps] = [MSAT_IN_BPS[unit ?? ''], MSAT_IN_BPS[another ?? '']];
  if (bps === undefined || otherBps === undefined) return undefined;
  return [multiplyByBps(one.cryptoAmount ?? '0', bps), multiplyByBps(other.cryptoAmount ?? '0', otherBps)];
}

export function quoteInWords(quote: TimedQuote): string {
  return `quote ${quote.rateId}${quote.cryptoAmount === null ? '' : `: ${inWords(quote)}`}`;
}

const inWords = ({ cryptoAmount, cryptoUnit }: Quote) => `${cryptoAmount} ${cryptoUnit ?? ''}`.trimEnd();
