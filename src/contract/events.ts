import { z } from 'zod';
import { amount, opaque, record, text, timestamp, word } from './reading.js';
import { DEPOSIT_STATUSES } from './vocabulary.js';

/** The envelope of a signed webhook. The signature covers the body's raw text without this member: cut, never re-serialise. */
export const WebhookEnvelope = record({ event: text(), data: opaque(), signature: text() }, ['event', 'data']);
export type WebhookEnvelope = z.infer<typeof WebhookEnvelope>;

/** `data` of `deposit.onchain.successful`, the only event whose shape the interface shows. */
export const OnChainDepositEventData = record(
  {
    reference_id: text(),
    status: text(),
    mobile_money_status: word(DEPOSIT_STATUSES),
    crypto_received_status: word(DEPOSIT_STATUSES),
    amount: amount(),
    currency: text(),
    crypto_amount: amount(),
    chain: text(),
    token: text(),
    transaction_hash: text(),
    created_at: timestamp(),
    completed_at: timestamp(),
  },
  ['reference_id', 'status'],
);
export type OnChainDepositEventData = z.infer<typeof OnChainDepositEventData>;

export const ON_CHAIN_DEPOSIT_EVENT = 'deposit.onchain.successful';

export const OnChainDepositEvent = record({ event: z.literal(ON_CHAIN_DEPOSIT_EVENT), data: OnChainDepositEventData }, [
  'event',
  'data',
]);
export type OnChainDepositEvent = z.infer<typeof OnChainDepositEvent>;

/**
 * Members by which callbacks of unknown shape are matched. The same event may say `reference_id` or `referenceId`; the
 * bridge says `provider_reference_id`. Everything else is kept unchanged.
 */
export const CallbackFields = record(
  {
    reference_id: text(),
    referenceId: text(),
    provider_reference_id: text(),
    kotani_reference_id: text(),
    status: text(),
  },
  [],
);
export type CallbackFields = z.infer<typeof CallbackFields>;
