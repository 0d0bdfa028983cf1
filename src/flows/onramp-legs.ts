import { z } from 'zod';
import { amount } from '../contract/reading.js';
import { isFinal, meaningOf, PAYMENT_WORDS, type Meaning } from './meanings.js';
import { addressFact } from './address-fact.js';

/** What is read of the two legs, in a looked-up record or in an event; null where it is not said. */
export interface OnrampLegs {
  readonly fiat: string | null;
  readonly crypto: string | null;
  /** `crypto_received_status`: beside the on-chain status in a record, alone in an event. */
  readonly received: string | null;
}

const text = z.string().nullish().catch(undefined);
const Deposit = z.looseObject({
  status: text,
  amount: amount().nullish().catch(undefined),
  currency: text,
});
const Legs = z.looseObject({
  mobile_money: Deposit.nullish().catch(undefined),
  onchain: z
    .looseObject({ status: text, crypto_received_status: text, public_address: text })
    .nullish()
    .catch(undefined),
});

/** Where an onramp stands, by both of its lookups: `getOnChainDeposit`, and `getMobileMoneyDeposit` for a missing leg. */
export function onrampStatus(record: unknown, mobileMoney: unknown): string | null {
  const { mobile_money: fiat, onchain } = Legs.parse(record ?? {});
  return onrampWord({
    fiat: fiat?.status ?? Deposit.parse(mobileMoney ?? {}).status ?? null,
    crypto: onchain?.status ?? null,
    received: onchain?.crypto_received_status ?? null,
  });
}

/** What a looked-up onramp can be told by. */
export function onrampFacts(record: unknown): Readonly<Record<string, string>> {
  const { mobile_money: fiat, onchain } = Legs.parse(record ?? {});
  return {
    ...(fiat?.amount ? { fiatAmount: fiat.amount } : {}),
    ...(fiat?.currency ? { currency: fiat.currency } : {}),
    ...(onchain?.public_address ? { receiverAddress: addressFact(onchain.public_address) } : {}),
  };
}

/**
 * One word of `ONRAMP_WORDS` for both legs. The crypto leg counts once the fiat is collected, or once the crypto is
 * delivered: a chain that says FAILED while the customer has not paid says nothing about money. What no order of events
 * explains gets a word that is in no table: it is shown, and is neither success nor final.
 */
export function onrampWord({ fiat, crypto: onchain, received }: OnrampLegs): string | null {
  const crypto = onchain ?? received;
  const paid = fiat === null ? null : meaningOf(PAYMENT_WORDS, fiat);
  const sent = crypto === null ? null : meaningOf(PAYMENT_WORDS, crypto);
  if (excludes(sent, received === null ? null : meaningOf(PAYMENT_WORDS, received))) return `CONTRADICTORY_CRYPTO`;
  if (paid === 'failed') return sent === 'succeeded' ? 'CRYPTO_WITHOUT_FIAT' : `FIAT_${fiat}`;
  if (paid === 'refunded') return sent === null || sent === 'failed' ? `FIAT_${fiat}` : 'CRYPTO_WITHOUT_FIAT';
  if (crypto !== null && (paid === 'succeeded' || sent === 'succeeded')) return `CRYPTO_${crypto}`;
  if (fiat !== null) return `FIAT_${fiat}`;
  return sent === 'failed' ? `CRYPTO_${crypto}` : crypto;
}

function excludes(one: Meaning | null, other: Meaning | null): boolean {
  return one !== null && other !== null && isFinal(one) && isFinal(other) && one !== other;
}
