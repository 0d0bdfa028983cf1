/** The words that flows, gateway, worker and CLI share. Imports nothing, so that workflows may import its values. */

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** The service lets an unpaid deposit expire after 24 h: then the flow ends by that, before it would ask a person. */
const CUSTOMER_PAYS_SECONDS = DAY_SECONDS + HOUR_SECONDS;

/** Every flow kind, a line each: the seconds from its start to its deadline, if its input has none. */
const DEADLINE_SECONDS = {
  'bridge-transfer': HOUR_SECONDS,
  'invoice-payment': CUSTOMER_PAYS_SECONDS,
  onramp: CUSTOMER_PAYS_SECONDS,
  'crypto-send': HOUR_SECONDS,
  offramp: HOUR_SECONDS,
  'bank-checkout': CUSTOMER_PAYS_SECONDS,
  'card-deposit': HOUR_SECONDS,
  'bank-withdrawal': 3 * DAY_SECONDS, // Banks rest on weekends.
  'kyc-check': 7 * DAY_SECONDS, // People review a KYC record, and they rest on weekends.
  'mobile-money-watch': HOUR_SECONDS,
  'on-chain-watch': CUSTOMER_PAYS_SECONDS,
} as const;
export type FlowKind = keyof typeof DEADLINE_SECONDS;
export const FLOW_KINDS = Object.keys(DEADLINE_SECONDS) as readonly FlowKind[];

export const FLOW_STATES = ['running', 'parked', 'completed', 'refunded', 'failed', 'expired', 'cancelled'] as const;
export type FlowState = (typeof FLOW_STATES)[number];

export function defaultDeadlineSeconds(kind: FlowKind): number {
  return DEADLINE_SECONDS[kind];
}

/** Durable names: running flows depend on them. `test/durable-names` keeps a snapshot. */
export const TASK_QUEUE = 'towline';
export const EVENTS_SIGNAL = 'events';
export const FLOW_QUERY = 'flow';
/** The workflow that sends a flow's changes to its caller; its signals and its query. */
export const CALLBACK_WORKFLOW = 'callbackDelivery';
export const CHANGES_SIGNAL = 'changes';
export const RESEND_SIGNAL = 'resend';
export const CALLBACKS_QUERY = 'callbacks';
/** Value of `STATE_ATTRIBUTE` while the delivery waits for a person, after days of trying. */
export const UNDELIVERED = 'undelivered';
export const UPDATES = {
  answer: 'answer',
  approveQuote: 'approveQuote',
  cancel: 'cancel',
  resolve: 'resolve',
  provideRefundInvoice: 'provideRefundInvoice',
  pay: 'pay',
} as const;

/** Keyword; set when a flow parks and when it ends (a running flow has none). */
export const STATE_ATTRIBUTE = 'TowlineState';
/** Keyword; why it is parked, while it is. */
export const PARK_REASON_ATTRIBUTE = 'TowlineParkReason';
/** Memo; set on a flow that was terminated and started again: an earlier run of it may have sent. */
export const RESUMED = 'resumed';

/** Datetime; since when it is parked, while it is. */
export const PARKED_SINCE_ATTRIBUTE = 'TowlineParkedSince';
/** Search attributes that a namespace needs before a flow can run in it, name to type. */
export const SEARCH_ATTRIBUTES = {
  [STATE_ATTRIBUTE]: 'Keyword',
  [PARK_REASON_ATTRIBUTE]: 'Keyword',
  [PARKED_SINCE_ATTRIBUTE]: 'Datetime',
} as const;

/**
 * Why a flow is parked, and what a person may then order. The actions are the legal moves of the flow's state machine:
 * any other action is refused.
 */
export const PARK_ACTIONS = {
  /**
   * A POST was sent, and there is no evidence of its outcome: there is no status lookup, or its record may be older.
   */
  unknown_outcome: ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'],
  /** A POST was sent, and the status lookup found nothing for the whole settle window. */
  not_found_at_service: ['send-again', 'close-not-executed'],
  /** A POST was sent, and neither the claim nor the status lookup could give its outcome. */
  could_not_ask: ['send-again', 'close-not-executed', 'mark-completed', 'mark-refunded'],
  /** Nothing was sent, and nothing shows whether the invoice was paid in another way. */
  payment_unclear: ['keep-waiting', 'mark-completed', 'close-not-executed'],
  /** The service says that this reference exists, with another amount, currency or receiver. `mark-refunded`: refunds. */
  duplicate_mismatch: ['close-not-executed', 'mark-refunded'],
  /** At the deadline there was a terminal settlement that is not proven. */
  unverified_settlement: ['trust-settlement', 'mark-completed', 'mark-failed', 'keep-waiting'],
  /** At the deadline no terminal event had come. */
  no_settlement: ['keep-waiting', 'mark-completed', 'mark-failed', 'mark-refunded'],
  /** At the deadline it was not decided. */
  no_decision: ['keep-waiting', 'mark-completed', 'mark-failed'],
  /** A trusted event says something else about this transfer than we know. Both sides are in the evidence. */
  event_mismatch: ['accept-event', 'dismiss-event'],
  /** The service refused the report of the provider's trusted settlement, or cannot be informed of it for a while. */
  report_refused: ['report-again', 'mark-completed', 'mark-failed', 'mark-refunded'],
  /** Money may have moved, and a later step of the flow can never succeed. */
  step_failed: ['mark-completed', 'mark-failed', 'mark-refunded'],
  /** Trusted events contradict one another, for example completed and refunded. */
  conflict: ['mark-completed', 'mark-failed', 'mark-refunded'],
  /** The transfer failed after the crypto had been paid, and no refund is known. */
  refund_needed: ['refund-now', 'mark-refunded', 'close-without-refund', 'mark-completed'],
  /** The refund may have been sent, and its outcome is unknown. */
  refund_unknown: ['send-again', 'close-not-executed', 'mark-refunded'],
  /** The refund was accepted, and never confirmed. */
  refund_unconfirmed: ['keep-waiting', 'mark-refunded', 'mark-failed'],
  /** The deadline came while the service owed a refund. */
  refund_pending: ['keep-waiting', 'mark-refunded', 'close-without-refund', 'mark-completed'],
  /** The service refused or failed the refund. */
  refund_failed: ['mark-refunded', 'close-without-refund'],
  /** The customer's fiat was collected, and the crypto that it was for failed on the chain. */
  crypto_leg_failed: ['mark-completed', 'mark-refunded', 'close-without-refund'],
  /** The service asks for a Lightning invoice to refund to: the update `provideRefundInvoice` takes it. */
  refund_invoice_needed: ['keep-waiting', 'mark-refunded', 'close-without-refund', 'mark-completed'],
  /** A checked refund invoice is on show: it must be handed to the service, by a person. */
  refund_invoice_ready: ['confirm-handed-over', 'mark-refunded', 'close-without-refund', 'mark-completed'],
  /** The flow was terminated in the Temporal UI: the gateway starts it again. */
  terminated: ['resume'],
} as const;
export type ParkReason = keyof typeof PARK_ACTIONS;
export const PARK_REASONS = Object.keys(PARK_ACTIONS) as [ParkReason, ...ParkReason[]];
export type ParkAction = (typeof PARK_ACTIONS)[ParkReason][number];
/** Each action that some reason allows, once. */
export const EVERY_PARK_ACTION = [...new Set<ParkAction>(PARK_REASONS.flatMap((reason) => PARK_ACTIONS[reason]))];

/** Reasons of flows that end Failed, Expired or Cancelled: the `type` of the closing failure. */
export const END_REASONS = [
  'invalid_input',
  'plaintext_input',
  'quote_rejected',
  'rejected_by_service',
  'other_request_same_reference',
  'not_executed',
  'failed_at_service',
  'kyc_rejected',
  'closed_by_person',
  'deadline_passed',
  'cancelled_before_sending',
  'card_details_expired',
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** What an entry of a flow's timeline records. The sentence beside it is for a person. */
export const TIMELINE_CODES = [
  'quoted',
  'awaiting-approval',
  'quote-approved',
  'awaiting-payment',
  'pay-ordered',
  'reading-invoice',
  'invoice-payable',
  'paid-elsewhere',
  'sending',
  'not-sent',
  'accepted',
  'proven',
  'send-held-back',
  'outcome-unknown',
  'send-again-ordered',
  'send-again-failed',
  'may-still-send',
  'closed-and-reported',
  'not-closed',
  'watching',
  'pays-at-redirect',
  'pays-on-phone',
  'redirect-lost',
  'event-applied',
  'event-differs',
  'event-unverified',
  'status-unknown',
  'status-looked-up',
  'plaintext-dropped',
  'settlement-reported',
  'report-refused',
  'report-not-taken',
  'refund-awaited',
  'sending-refund',
  'refund-accepted',
  'refund-failed',
  'refund-invoice-given',
  'refund-invoice-handed-over',
  'refund-invoice-expired',
  'deadline-passed',
  'inbox-not-read',
  'not-asked',
  'parked',
  'decided-meanwhile',
  'order-taken',
  'order-refused',
  'cancel-refused',
  'ended',
] as const;
export type TimelineCode = (typeof TIMELINE_CODES)[number];

/** camelCase of a kind: its Temporal workflow type. */
export function workflowTypeOf(kind: FlowKind): string {
  return kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function flowIdOf(kind: FlowKind, reference: string): string {
  return `${kind}/${reference}`;
}

export const REFUND_SUFFIX = '.refund';

/** Our refunds use such a reference, so it is not a flow's own. */
export const isRefundReference = (reference: string): boolean => reference.endsWith(REFUND_SUFFIX);

export const refundReferenceOf = (reference: string): string => reference + REFUND_SUFFIX;

const CALLBACK_ID_PREFIX = 'callbacks/';

/** Workflow id of the delivery of a flow's callbacks. No flow has such an id: `callbacks` is no kind. */
export function callbackIdOf(flowId: string): string {
  return CALLBACK_ID_PREFIX + flowId;
}

/** The flow whose callbacks a workflow id delivers. */
export function flowIdOfCallbacks(workflowId: string): string | undefined {
  return workflowId.startsWith(CALLBACK_ID_PREFIX) ? workflowId.slice(CALLBACK_ID_PREFIX.length) : undefined;
}

/** `{kind, reference}` of a flow id, or undefined if it is none of ours. */
export function parseFlowId(flowId: string): { kind: FlowKind; reference: string } | undefined {
  const slash = flowId.indexOf('/');
  const kind = FLOW_KINDS.find((candidate) => candidate === flowId.slice(0, slash));
  return slash > 0 && kind !== undefined ? { kind, reference: flowId.slice(slash + 1) } : undefined;
}

/** The reference in a flow id; the whole text if it is none of ours. A refund's claim has a reference of its own. */
export const referenceOfFlow = (flowId: string): string => parseFlowId(flowId)?.reference ?? flowId;

/** Why a flow is parked, as a sentence for the person who is notified. Shown in the Temporal UI and by the CLI. */
export const PARK_SENTENCES: Readonly<Record<ParkReason, string>> = {
  unknown_outcome:
    'A payment request was sent, its answer was lost, and there is no evidence of whether the service took it.',
  not_found_at_service: 'A payment request was sent, its answer was lost, and the service does not show it.',
  could_not_ask: 'A payment request was sent, its answer was lost, and the service cannot be asked about it.',
  payment_unclear: 'Nothing was sent, and there is no evidence of whether the invoice was paid in another way.',
  duplicate_mismatch: 'The service has something else under this reference: another amount, currency or receiver.',
  unverified_settlement: 'The deadline passed; a settlement came, and it is not proven to be genuine.',
  no_settlement: 'The deadline passed, and no final status was received.',
  no_decision: 'The deadline passed, and the KYC record is not decided.',
  event_mismatch: 'A trusted event says something else about this payment than we know.',
  report_refused: "The service refused the report of the provider's settlement, or cannot be reached.",
  step_failed: 'Money may have moved, and a later step of the flow cannot be carried out.',
  conflict: 'Trusted events contradict one another, for example completed and refunded.',
  refund_needed: 'The payment failed after money had moved, and no refund is known.',
  refund_unknown: 'The refund may have been sent, and there is no evidence of whether the service took it.',
  refund_unconfirmed: 'The refund was accepted, and has not been confirmed.',
  refund_pending: 'The deadline passed while the service still owed a refund.',
  refund_failed: 'The refund was refused, or it failed.',
  crypto_leg_failed: "The customer's fiat was collected, and the crypto that it was for failed.",
  refund_invoice_needed: 'The service asks for a Lightning invoice to refund to.',
  refund_invoice_ready: 'A checked refund invoice waits to be handed to the service, before it expires.',
  terminated: 'The flow was terminated in the Temporal UI: it decides nothing any more until it is resumed.',
};

/** What a person must have checked before each action. The CLI shows it with the legal actions. */
export const CHECK_FIRST: Readonly<Record<ParkAction, string>> = {
  'send-again': 'the service says that it does not have this reference; else it is paid twice',
  'close-not-executed':
    'the service does not have this reference, and never will; else money moved under a failed flow',
  'mark-completed': 'the recipient has the money',
  'mark-failed': 'no money was moved, or all of it is back',
  'mark-refunded': 'the payer has the money back',
  'keep-waiting': 'it is expected to move on; it parks again at the next deadline',
  'trust-settlement': 'the settlement provider confirms this very settlement; it then counts as proven',
  'accept-event': 'the event is right, and what we know is wrong; the flow goes on with the figures of the event',
  'dismiss-event': 'the event is of something else',
  'report-again': 'the service can take the settlement now',
  'refund-now': 'no refund was made, and the recipient was not paid; else it is paid out twice',
  'close-without-refund': 'no refund is owed, or it is made outside of this flow',
  'confirm-handed-over': 'the service has this very invoice from you',
  resume: 'it is to go on: what was not sent yet is sent, and what was is looked up; nothing is sent twice',
};
