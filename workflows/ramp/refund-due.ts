import type { OfframpInput } from '../../src/flows/offramp.js';
import { compareAmounts, multiplyByBps } from '../../src/money.js';
import type { Facts } from '../steps/facts.js';

/** Thousandths of a satoshi in one of each, in hundredths of a percent: how `money.ts` multiplies exactly. */
const MSAT_IN_BPS: Readonly<Record<string, number>> = { MSAT: 1e4, SAT: 1e7, BTC: 1e15 };

/**
 * What a refund over Lightning comes to, in thousandths of a satoshi: what the service told, and never more than came in.
 * Null where neither can be expressed so (the token is none of Bitcoin's).
 */
export function refundDueMsat({ cryptoAmount, token }: Pick<OfframpInput, 'cryptoAmount' | 'token'>, told: Facts) {
  const inMsat = (amount: string) => {
    const unit = MSAT_IN_BPS[token];
    return unit === undefined ? null : multiplyByBps(amount, unit);
  };
  const cameIn = inMsat(cryptoAmount);
  const { refundAmountMsat, refundCryptoAmount } = told;
  const due = refundAmountMsat ?? (refundCryptoAmount === undefined ? cameIn : inMsat(refundCryptoAmount));
  return due !== null && cameIn !== null && compareAmounts(due, cameIn) > 0 ? cameIn : due;
}
