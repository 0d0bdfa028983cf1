import type { CardDepositRequest } from '../../contract/deposit.js';
import type { Kind } from '../transactions/kind.js';
import { paymentKind } from './payment.js';

/**
 * A card deposit as it may be kept: first six and last four digits at most, and nothing else of the card. The whole
 * card is dropped as soon as its request was read, before anything could write it down.
 */
export type KeptCardDeposit = Omit<CardDepositRequest, 'card'> & {
  readonly card: { readonly number: string; readonly customerRedirectUrl?: string | undefined };
};

export function withoutCard({ card, ...request }: CardDepositRequest): KeptCardDeposit {
  const { customerRedirectUrl } = card;
  return { ...request, card: { number: maskedNumber(card.number), customerRedirectUrl } };
}

/** Fewer than 13 digits are no card number, and show nothing. */
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
