import type { Quote } from '../../activities/types.js';
import { compareAmounts, toMsat, withinBps } from '../../src/money.js';
import type { FlowTerms } from '../../src/api/flow.js';
import { MAX_REQUOTES, QUOTE_MARGIN_MS } from '../engine/policies.js';
import type { Known } from '../engine/known.js';
import type { View } from '../engine/plan.js';
import type { TimedQuote } from './known.js';
import { inputOf } from './transfer.js';

/** A send begun now is within the life of its quote. */
export function isQuoted({ known: { transfer }, nowMs }: View): boolean {
  const { quote = null, isUsed = true } = transfer ?? {};
  return quote !== null && !isUsed && nowMs < quote.quotedAtMs + quote.lifeMs - QUOTE_MARGIN_MS;
}

/** Why there is no quote under which the deposit may be sent, nor will be; null: there may be one. */
export function whyNoQuote(v: View): string | null {
  const { transfer } = v.known;
  if (transfer === null) return null;
  const { agreed, quote, quotes } = transfer;
  const refused = whyNoNewQuote(v);
  if (refused !== null) return refused;
  if (agreed === null || quote === null || isQuoted(v)) return null;
  if (agreed.cryptoAmount === null)
    return 'The rate_id is no longer valid, and the figures behind it are not known here';
  return quotes >= MAX_REQUOTES ? 'Every quote expired before it could be used' : null;
}

/** Why the last quote that was asked for is none; null: it is one. */
export function whyNoNewQuote({ known }: View): string | null {
  const { agreed = null, quote = null, whyNone = null, quotes = 0 } = known.transfer ?? {};
  if (whyNone !== null || agreed === null || quote === null || quotes === 0) return whyNone;
  return whyWorse(agreed, quote, inputOf(known).maxSlippageBps);
}

/**
 * Why a new quote is worse than the agreed one by more than the limit, as a sentence; null if it is not. Better is always
 * welcome. Amounts are compared in one unit: a quote whose unit cannot be converted counts as none.
 */
export function whyWorse(agreed: Quote, offered: Quote, limitBps: number): string | null {
  if (agreed.cryptoAmount === null || offered.cryptoAmount === null) return 'The new quote names no amount';
  const [ours, theirs] = inOneUnit(agreed, offered) ?? [];
  const offer = `The new quote (${inWords(offered)})`;
  if (ours === undefined || theirs === undefined) return `${offer} is in another unit than ${inWords(agreed)}`;
  if (compareAmounts(theirs, ours) >= 0 || withinBps(theirs, limitBps, ours)) return null;
  return `${offer} is worse than ${inWords(agreed)} by more than ${limitBps / 100} %`;
}

function inOneUnit(one: Quote, other: Quote): readonly [string, string] | undefined {
  const [unit, another] = [one.cryptoUnit, other.cryptoUnit];
  if (unit === another) return [one.cryptoAmount ?? '0', other.cryptoAmount ?? '0'];
  const ours = toMsat(one.cryptoAmount ?? '0', unit ?? '');
  const theirs = toMsat(other.cryptoAmount ?? '0', another ?? '');
  return ours === null || theirs === null ? undefined : [ours, theirs];
}

/** Digits of a rate that a person compares; it is never calculated with. */
const RATE_DIGITS = 8;

/** The terms of the input, with those of its quote. */
export function quotedTerms({ prepared, transfer }: Known): FlowTerms | null {
  const terms = prepared?.terms ?? null;
  const quote = transfer?.quote ?? null;
  if (terms === null || quote === null) return terms;
  const { rateId, cryptoAmount, cryptoUnit, fee, lifeMs, quotedAtMs } = quote;
  const { amount, currency } = terms.sends;
  const gives = cryptoAmount === null ? null : { amount: cryptoAmount, currency: cryptoUnit ?? '' };
  const rate = Number(amount) / Number(cryptoAmount);
  return {
    ...terms,
    quote: {
      id: rateId,
      gives,
      rate: Number.isFinite(rate)
        ? `${Number(rate.toPrecision(RATE_DIGITS))} ${currency} per ${cryptoUnit ?? ''}`
        : null,
      fee: fee ?? null,
      expiresAt: new Date(quotedAtMs + lifeMs).toISOString(),
    },
  };
}

export function quoteInWords(quote: TimedQuote): string {
  return `quote ${quote.rateId}${quote.cryptoAmount === null ? '' : `: ${inWords(quote)}`}`;
}

const inWords = ({ cryptoAmount, cryptoUnit }: Quote) => `${cryptoAmount} ${cryptoUnit ?? ''}`.trimEnd();
