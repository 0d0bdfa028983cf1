import { KYC } from './account/kyc.js';
import { CRYPTO_SEND } from './crypto-send.js';
import { BANK_CHECKOUT, CARD_DEPOSIT, MOBILE_MONEY } from './deposit/methods.js';
import { INVOICE, INVOICE_PAYMENT } from './invoice.js';
import { OFFRAMP } from './offramp.js';
import { ON_CHAIN_DEPOSIT, ONRAMP } from './onramp.js';
import { WITHDRAWAL } from './withdrawal.js';
import type { Kind } from './transactions/kind.js';

/** Everything with a lifecycle, except the bridge, whose reports may set any status. A new kind is one line. */
export const KINDS: readonly Kind[] = [
  ONRAMP,
  ON_CHAIN_DEPOSIT,
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

/** @throws Error if no kind has this operation: the file is of another version */
export function kindOf(operation: string): Kind {
  const kind = BY_OPERATION.get(operation);
  if (kind === undefined) throw new Error(`no kind of transaction is made by ${operation}`);
  return kind;
}
