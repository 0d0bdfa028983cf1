import { KYC, kycHandlers } from './account/kyc.js';
import { BRIDGE_ENDINGS, BRIDGE_MAGIC_AMOUNTS } from './bridge/endings.js';
import { CRYPTO_SEND, cryptoSendHandlers } from './crypto-send.js';
import { fiatLegHandlers } from './deposit/fiat-legs.js';
import { BANK_CHECKOUT, CARD_DEPOSIT, depositHandlers, MOBILE_MONEY } from './deposit/methods.js';
import type { HandlerParts } from './handler.js';
import { INVOICE, INVOICE_PAYMENT, invoiceHandlers } from './invoice.js';
import { OFFRAMP, offrampHandlers } from './offramp.js';
import { ON_CHAIN_DEPOSIT, ONRAMP, onrampHandlers } from './onramp.js';
import { WITHDRAWAL, withdrawalHandlers } from './withdrawal.js';
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

/** What they answer. A kind whose operations are forgotten here does not compile (`Handlers`, in `service.ts`). */
export const kindHandlers = (parts: HandlerParts) => ({
  ...onrampHandlers(parts),
  ...cryptoSendHandlers(parts),
  ...offrampHandlers(parts),
  ...depositHandlers(parts),
  ...fiatLegHandlers(parts),
  ...withdrawalHandlers(parts),
  ...invoiceHandlers(parts),
  ...kycHandlers(parts),
});

const BY_OPERATION = new Map(KINDS.map((kind) => [kind.operation, kind]));

/** @throws Error if no kind has this operation: the file is of another version */
export function kindOf(operation: string): Kind {
  const kind = BY_OPERATION.get(operation);
  if (kind === undefined) throw new Error(`no kind of transaction is made by ${operation}`);
  return kind;
}

/** How one operation can end, and what chooses its endings. */
export interface CatalogueEntry {
  readonly operation: string;
  readonly endings: Readonly<Record<string, { readonly story: string }>>;
  readonly magic: Readonly<Record<string, string>>;
}

/** Every operation that has endings. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  { operation: 'createBridgeDeposit', endings: BRIDGE_ENDINGS, magic: BRIDGE_MAGIC_AMOUNTS },
  ...KINDS.map(({ operation, lifecycle: { endings, magic } }) => ({ operation, endings, magic })),
];

export const ALL_ENDINGS: readonly string[] = [...new Set(CATALOGUE.flatMap(({ endings }) => Object.keys(endings)))];
