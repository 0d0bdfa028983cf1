import type { z } from 'zod';
import type { Card } from '../contract/deposit.js';
import type { BankCheckoutInput } from '../flows/bank-checkout.js';
import type { BankWithdrawalInput } from '../flows/bank-withdrawal.js';
import type { BridgeTransferInput } from '../flows/bridge-transfer.js';
import type { CardDepositInput } from '../flows/card-deposit.js';
import type { CryptoSendInput } from '../flows/crypto-send.js';
import type { InvoicePaymentWritten, PaymentOrderWritten } from '../flows/invoice-payment.js';
import type { KycCheckInput } from '../flows/kyc-check.js';
import type { MobileMoneyWatchInput } from '../flows/mobile-money-watch.js';
import type { OfframpInput } from '../flows/offramp.js';
import type { OnrampInput } from '../flows/onramp.js';
import type { FlowKind } from '../flows/vocabulary.js';

/** What each kind of flow is started from: as callers write it, amounts preferably as decimal strings. */
export interface FlowInputs {
  readonly 'bridge-transfer': z.input<typeof BridgeTransferInput>;
  readonly 'invoice-payment': InvoicePaymentWritten;
  readonly onramp: z.input<typeof OnrampInput>;
  readonly 'crypto-send': z.input<typeof CryptoSendInput>;
  readonly offramp: z.input<typeof OfframpInput>;
  readonly 'bank-checkout': z.input<typeof BankCheckoutInput>;
  readonly 'card-deposit': CardDepositWritten;
  readonly 'bank-withdrawal': z.input<typeof BankWithdrawalInput>;
  readonly 'kyc-check': z.input<typeof KycCheckInput>;
  readonly 'mobile-money-watch': z.input<typeof MobileMoneyWatchInput>;
}

type CardDeposit = z.input<typeof CardDepositInput>;

/** With a card, in whose place the gateway puts a one-time token, or with such a token. */
type CardDepositWritten =
  CardDeposit | (Omit<CardDeposit, 'card' | 'cardToken' | 'masked'> & { readonly card: CardWritten });

export type CardWritten = z.input<typeof Card>;

/** Of one kind. A kind that is not in `FlowInputs` does not compile here. */
export type FlowInput<Kind extends FlowKind = FlowKind> = FlowInputs[Kind];

/** Who pays an invoice; and how much, where that is not the invoice's amount. */
export type PaymentOrder = PaymentOrderWritten;

/** JSON that is sent as it was written, so that numbers keep all their digits. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const textOf = (input: object): string => (input instanceof JsonText ? input.text : JSON.stringify(input));
