import type { Facts } from '../../activities/types.js';
import type { OfframpInput } from '../../src/flows/offramp.js';
import { compareAmounts, toMsat } from '../../src/money.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { REFUND_INVOICE_NEEDED } from '../../src/protocol/statuses.js';
import type { Known } from './known.js';
import type { View } from './plan.js';

/** What the service reported about the refund when it asked for an invoice. */
export const factsOfRefund = ({ ours }: Pick<View, 'ours'>): Facts =>
  ours.find(({ of }) => of.event.status === REFUND_INVOICE_NEEDED)?.of.event.facts ?? {};

/** Only of a flow whose input was checked. */
export const inputOf = ({ prepared }: Known): OfframpInput => prepared?.input as OfframpInput;

/** What is due, and the most that may be sent back, in thousandths of a satoshi. */
export function refundAmounts(v: View) {
  const { cryptoAmount, token } = inputOf(v.known);
  return {
    dueMsat: refundDueMsat({ cryptoAmount, token }, factsOfRefund(v)),
    mostMsat: toMsat(cryptoAmount, token),
  };
}

/**
 * The amount of a refund over Lightning, in thousandths of a satoshi: what the service reported, and never more than
 * came in. Null if neither can be expressed so (the token is not one of Bitcoin's), or what it reported cannot be read.
 */
export function refundDueMsat(
  { cryptoAmount, token }: Pick<OfframpInput, 'cryptoAmount' | 'token'>,
  facts: Facts,
): string | null {
  const cameIn = toMsat(cryptoAmount, token);
  const { refundAmountMsat, refundCryptoAmount } = facts;
  if ([refundAmountMsat, refundCryptoAmount].includes(UNREADABLE)) return null;
  const due = refundAmountMsat ?? (refundCryptoAmount === undefined ? cameIn : toMsat(refundCryptoAmount, token));
  return due !== null && cameIn !== null && compareAmounts(due, cameIn) > 0 ? cameIn : due;
}
