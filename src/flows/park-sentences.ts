import type { ParkAction, ParkReason } from './vocabulary.js';

/** Why a flow is parked, as a sentence for the person who is called. Shown in the Temporal UI and by the CLI. */
export const PARK_SENTENCES: Readonly<Record<ParkReason, string>> = {
  unknown_outcome: 'A payment request was sent, its answer was lost, and nothing tells whether the service took it.',
  not_found_at_service: 'A payment request was sent, its answer was lost, and the service does not show it.',
  could_not_ask: 'A payment request was sent, its answer was lost, and the service cannot be asked about it.',
  payment_unclear: 'Nothing was sent, and it cannot be told whether the invoice was paid by another way.',
  duplicate_mismatch: 'The service has something else under this reference: another amount, currency or receiver.',
  unverified_settlement: 'The deadline passed; a settlement came, and nobody has proven that it is genuine.',
  no_settlement: 'The deadline passed, and nothing final was heard.',
  no_decision: 'The deadline passed, and nobody has decided on the KYC record.',
  event_mismatch: 'A trusted event says something else about this payment than we know.',
  report_refused: "The service refused to hear the provider's settlement, or cannot be told of it.",
  step_failed: 'Money may have moved, and a later step of the flow cannot be carried out.',
  conflict: 'Trusted words contradict one another, for example completed and refunded.',
  refund_needed: 'The payment failed after money had moved, and nobody is known to have refunded it.',
  refund_unknown: 'The refund was sent, and nothing tells whether the service took it.',
  refund_unconfirmed: 'The refund was accepted, and has not been confirmed.',
  refund_pending: 'The deadline passed while the service still owed a refund.',
  refund_failed: 'The refund was refused, or it failed.',
  crypto_leg_failed: "The customer's fiat was collected, and the crypto that it was for failed.",
  refund_invoice_needed: 'The service asks for a Lightning invoice to refund to.',
  refund_invoice_ready: 'A checked refund invoice waits to be handed to the service, before it expires.',
  terminated: 'The flow was terminated in the Temporal UI; what became of its money is not known to it.',
};

/** What a person must have made sure of before each action. Shown with the legal ones by the CLI. */
export const CHECK_FIRST: Readonly<Record<ParkAction, string>> = {
  'send-again': 'the service says that it does not have this reference; else it is paid twice',
  'close-not-executed':
    'the service does not have this reference, and never will; else money moved under a failed flow',
  'mark-completed': 'the recipient has the money',
  'mark-failed': 'no money was moved, or all of it is back',
  'mark-refunded': 'the payer has the money back',
  'keep-waiting': 'somebody expects it to move on; it parks again at the next deadline',
  'trust-settlement': 'the settlement provider confirms this very settlement; it then counts as proven',
  'accept-event': 'the event is right, and what we know is wrong; the flow goes on with the figures of the event',
  'dismiss-event': 'the event is of something else',
  'report-again': 'the service can take the settlement now',
  'refund-now': 'nobody else has refunded, and the recipient was not paid; else it is paid out twice',
  'close-without-refund': 'no refund is owed, or it is made outside of this flow',
  'confirm-handed-over': 'the service has this very invoice from you',
};
