import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import { FIAT_CURRENCIES } from '../../contract/vocabulary.js';
import type { CardDepositRequest, BankCheckoutRequest } from '../../contract/deposit.js';
import { less } from '../exchange.js';
import type { HandlerParts, Handlers } from '../handler.js';
import type { Transaction, Transactions } from '../transactions/transactions.js';
import { unknownReference } from '../refusal.js';
import { customerKey, paymentKind, paymentError } from './payment.js';
import type { Kind } from '../transactions/kind.js';

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

/** The data of the record, whichever operation collected the money. */
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

/**
 * A card deposit as it may be stored: at most the first six and last four digits of the card. The whole card is dropped
 * as soon as its request was read, before anything could store it.
 */
export type KeptCardDeposit = Omit<CardDepositRequest, 'card'> & {
  readonly card: { readonly number: string; readonly customerRedirectUrl?: string | undefined };
};

export function withoutCard({ card, ...request }: CardDepositRequest): KeptCardDeposit {
  const { customerRedirectUrl } = card;
  return { ...request, card: { number: maskedNumber(card.number), customerRedirectUrl } };
}

/** Fewer than 13 digits are not a card number, and nothing of them is shown. */
export function maskedNumber(number: string): string {
  const digits = number.replaceAll(/\D/g, '');
  if (digits.length < 13) return '*'.repeat(digits.length);
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4);
}

/** Paid by card after 3-D Secure, which here passes by itself. */
export const CARD_DEPOSIT: Kind<KeptCardDeposit> = {
  ...paymentKind,
  operation: 'createCardDeposit',
  title: 'Card deposit',
  idPrefix: 'CRD',
  parties: ({ phoneNumber, card }) => [phoneNumber, card.number.slice(-4).padStart(6, '0')],
};

/** The customer pays at a bank's checkout page. */
export const BANK_CHECKOUT: Kind<BankCheckoutRequest> = {
  ...paymentKind,
  operation: 'createBankCheckout',
  title: 'Bank checkout',
  idPrefix: 'CHK',
};

export const depositHandlers = ({
  admit,
  numberOf,
  checkoutUrl,
}: HandlerParts): Pick<Handlers, 'createCardDeposit' | 'createBankCheckout'> => ({
  createCardDeposit(call) {
    // It no longer contains a card: see `redactCard`.
    const body = call.body as KeptCardDeposit;
    return admit(CARD_DEPOSIT, {
      body,
      reference: body.referenceId,
      answer: (transaction) => ({
        message: 'Card deposit created: send the customer to redirect_url',
        data: {
          id: transaction.id,
          message: '3-D Secure is required',
          reference_id: transaction.reference,
          reference_number: numberOf(transaction),
          customer_key: customerKey(body.phoneNumber),
          redirect_url: checkoutUrl(transaction.id),
        },
      }),
    });
  },
  // The result "echoes the request members".
  createBankCheckout: ({ body }) =>
    admit(BANK_CHECKOUT, {
      body,
      reference: body.referenceId,
      answer: ({ reference }) => ({ message: 'Bank checkout created', data: { ...body, referenceId: reference } }),
    }),
});

/** Path of redirect URLs. */
export const CHECKOUT_PATH = '/checkout';

/** A page in place of the bank's or the card network's: it only shows the status of the payment. */
export function addCheckoutPage(server: FastifyInstance, deps: { transactions: Transactions }): void {
  server.get<{ Params: { id: string } }>(`${CHECKOUT_PATH}/:id`, (request, reply) => {
    const { id } = request.params;
    const transaction = deps.transactions.get(id);
    if (transaction === undefined) throw unknownReference('Checkout', id);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'")
      .send(
        '<!doctype html><title>Sandbox checkout</title><h1>Sandbox checkout</h1>' +
          `<p>Here a customer would pay. This payment is ${transaction.status}, and goes on by itself.</p>`,
      );
  });
}
