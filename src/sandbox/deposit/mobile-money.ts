import { z } from 'zod';
import { FIAT_CURRENCIES } from '../../contract/vocabulary.js';
import { less } from '../currency.js';
import type { Kind } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';
import { customerKey, paymentKind } from './payment.js';
import { paymentError } from './payment-lifecycle.js';

/** The interface reads mobile money deposits and has no operation that makes one: control does. */
export const MobileMoneyRequest = z.strictObject({
  referenceId: z.string().min(1),
  amount: z.number().positive(),
  currency: z.enum(FIAT_CURRENCIES),
  phoneNumber: z.string().min(1),
  networkProvider: z.string().min(1).optional(),
  callbackUrl: z.url({ protocol: /^https?$/ }).optional(),
});
export type MobileMoneyRequest = z.infer<typeof MobileMoneyRequest>;

export const MOBILE_MONEY: Kind<MobileMoneyRequest> = {
  ...paymentKind,
  operation: 'mobileMoneyDeposit',
  title: 'Mobile money deposit',
  idPrefix: 'MMD',
};

/** What the record is made of, whichever operation asked for the money. */
export interface FiatLeg {
  readonly phoneNumber: string;
  readonly network: string;
  readonly amount: number;
  readonly currency: string;
  readonly fee: string;
  readonly callbackUrl: string | undefined;
  /** By the payment lifecycle. */
  readonly status: string;
}

/** The "Mobile money deposit record" of the interface. `number` is how the vocabulary spells the reference number. */
export function mobileMoneyRecord(
  { id, reference, createdAt, updatedAt }: Transaction,
  leg: FiatLeg,
  { word, number }: { readonly word: string; readonly number: number | string },
) {
  const { amount, fee, currency, network, callbackUrl, phoneNumber } = leg;
  const net = Number(less(String(amount), fee));
  const error = paymentError(leg.status);
  return {
    id,
    amount,
    wallet_id: 'integrator',
    status: word,
    reference_number: number,
    created_at: createdAt,
    updatedAt,
    transaction_cost: Number(fee),
    transaction_amount: net,
    integratorsAmount: net,
    customer_key: customerKey(phoneNumber),
    callback_url: callbackUrl,
    reference_id: reference,
    currency,
    provider: 'SANDBOX',
    providerReference: `PR-${id}`,
    network,
    environment: 'sandbox',
    retries: 0,
    transactionError: error?.description,
    error_message: error?.description,
    error_code: error?.code,
    error_description: error?.description,
  };
}
