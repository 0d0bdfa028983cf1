import { KYC } from './account/kyc.js';
import { CRYPTO_SEND } from './crypto-send/crypto-send.js';
import { BANK_CHECKOUT } from './deposit/bank-checkout.js';
import { CARD_DEPOSIT } from './deposit/card.js';
import { MOBILE_MONEY } from './deposit/mobile-money.js';
import { INVOICE } from './invoice/invoice.js';
import { INVOICE_PAYMENT } from './invoice/invoice-payment.js';
import { OFFRAMP } from './offramp/offramp.js';
import { ONRAMP } from './onramp/onramp.js';
import type { Kind } from './transactions/kind.js';
import { WITHDRAWAL } from './withdrawal/withdrawal.js';

/** Everything that has a lifecycle, but for the bridge, which reports may send anywhere. A new kind is one line. */
export const KINDS: readonly Kind[] = [
  ONRAMP,
  CRYPTO_SEND,
  OFFRAMP,
  BANK_CHECKOUT,
  CARD_DEPOSIT,
  MOBILE_MONEY,
  WITHDRAWAL,
  INVOICE,
  INVOICE_PAYMENT,
  KYC,
];

const BY_OPERATION = new Map(KINDS.map((kind) => [kind.operation, kind]));

/** @throws Error where no kind has this operation: the file is of another version */
export function kindOf(operation: string): Kind {
  const kind = BY_OPERATION.get(operation);
  if (kind === undefined) throw new Error(`no kind of transaction is made by ${operation}`);
  return kind;
}
