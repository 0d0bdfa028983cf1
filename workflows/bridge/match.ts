import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { equalAmounts, type Facts } from '../steps/facts.js';

/** What we know of a transfer, in the words of an event's facts. */
export function knownFacts(
  input: BridgeTransferInput,
  deposit: { serviceReference: string | null; paymentHash: string | null },
): Facts {
  const facts: Record<string, string> = {
    chain: input.chain,
    token: input.token,
    settlementAmount: input.settlement.amount,
    settlementCurrency: input.settlement.currency,
  };
  const paymentHash = input.crypto_payment.payment_hash ?? deposit.paymentHash;
  if (deposit.serviceReference !== null) facts['serviceReference'] = deposit.serviceReference;
  if (paymentHash !== null) facts['paymentHash'] = paymentHash;
  if (input.crypto_payment.crypto_amount !== undefined) facts['cryptoAmount'] = input.crypto_payment.crypto_amount;
  if (input.crypto_payment.amount_msat !== undefined) facts['amountMsat'] = input.crypto_payment.amount_msat;
  return facts;
}

/**
 * An event's bare `amount` and `currency` may mean the fiat that the customer pays or the fiat that the recipient gets:
 * they are compared with the side whose currency they name, and with neither where both sides have that currency.
 */
export function amountDiffers(input: BridgeTransferInput, told: Facts): boolean {
  const { amount, currency } = told;
  if (amount === undefined || currency === undefined) return false;
  const candidates = [
    ...(currency === input.source_currency ? [input.amount] : []),
    ...(currency === input.settlement.currency ? [input.settlement.amount] : []),
  ];
  return candidates.length > 0 && candidates.every((candidate) => !equalAmounts(candidate, amount));
}
