/*
 * Why an order was refused, a step was not taken, or a person is asked: a code for programs, and the same as a sentence
 * for a person. The code is the `type` of a refused order's failure, and stands beside `why` in the evidence of a parked
 * flow. Imports nothing, so that workflows may import its values.
 */

export const CAUSE_CODES = [
  // What is wrong with an order.
  'no_actor',
  'no_note',
  'no_invoice',
  'unencrypted',
  'invalid_input',
  'invoice_refused',
  'unknown_action',
  'event_not_named',
  'event_not_asked_about',
  'needs_second_person',
  'other_request',
  // Why the flow takes none now.
  'flow_ended',
  'flow_moved_on',
  'flow_stopped',
  'not_parked',
  'approval_not_awaited',
  'no_refund_owed',
  'invoice_can_still_be_paid',
  'other_order_under_way',
  'ordered_before',
  'too_many_orders',
  'store_unavailable',
  'inbox_not_read',
  // What is known, or not known, of the money.
  'money_moved',
  'money_may_have_moved',
  'earlier_run_may_have_sent',
  'post_under_way',
  'service_has_it',
  'service_has_other',
  'claim_closed',
  'paid_by_another_way',
  'payment_unclear',
  'never_asked',
  'cannot_be_asked',
  // What events say.
  'proven_otherwise',
  'decided_meanwhile',
  'event_came',
  'event_being_matched',
  'event_reports_it',
  'event_reports_other_payment',
  'unverified_event_against_it',
  'proofs_exclude_one_another',
  'other_record',
  'not_compared',
  'funds_held',
  // Why a refund is not sent by us.
  'failure_not_proven',
  'payment_not_shown',
  'service_refund_begun',
  'service_may_refund',
  'refunded_twice_maybe',
  'own_refund_unknown',
  'refund_not_automatic',
  'refund_terms_unknown',
  'refund_terms_unreadable',
  'refund_not_sendable',
  'refund_rejected',
  'refund_claim_closed',
  'refund_send_failed',
  'amount_unreadable',
  'less_came_in',
  'other_came_in',
  'accepted_event_unread',
  'unverified_event_unread',
  'unverified_amount_unread',
] as const;
export type CauseCode = (typeof CAUSE_CODES)[number];

export interface Cause {
  readonly code: CauseCode;
  /** Begins in lower case and has no full stop: it is a part of other sentences. */
  readonly text: string;
}

/** In the evidence of a parked flow. */
export const shownCause = ({ code, text }: Cause) => ({ why: text, code });
