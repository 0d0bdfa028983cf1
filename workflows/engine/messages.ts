import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  FlowReport,
  PayOrder,
  PersonOrder,
  RefundInvoiceOrder,
  ResolveOrder,
  SubmitAnswer,
} from '../../src/protocol/messages.js';
import {
  CALLBACKS_QUERY,
  CHANGES_SIGNAL,
  EVENTS_SIGNAL,
  FLOW_QUERY,
  RESEND_SIGNAL,
  UPDATES,
  type ParkAction,
} from '../../src/protocol/vocabulary.js';
import type { ClaimRef } from '../../activities/types.js';
import type { CallbackReport } from '../../src/protocol/callbacks.js';

/** Arguments are `unknown`: any Temporal client may send anything, and a handler must never throw on it. */
export const eventsSignal = defineSignal<[unknown]>(EVENTS_SIGNAL);
export const flowQuery = defineQuery<FlowReport>(FLOW_QUERY);
/** Signals of the delivery of a flow's callbacks: the flow reports a change, a person wants the newest sent again. */
export const changesSignal = defineSignal<[unknown]>(CHANGES_SIGNAL);
export const resendSignal = defineSignal<[unknown]>(RESEND_SIGNAL);
export const callbacksQuery = defineQuery<CallbackReport>(CALLBACKS_QUERY);
export const answerUpdate = defineUpdate<SubmitAnswer>(UPDATES.answer);
export const cancelUpdate = defineUpdate<{ cancelled: true }, [PersonOrder]>(UPDATES.cancel);
export const resolveUpdate = defineUpdate<{ accepted: true }, [ResolveOrder]>(UPDATES.resolve);
export const approveQuoteUpdate = defineUpdate<{ approved: true }, [PersonOrder]>(UPDATES.approveQuote);
export const provideRefundInvoiceUpdate = defineUpdate<{ accepted: true; expiresAt: string }, [RefundInvoiceOrder]>(
  UPDATES.provideRefundInvoice,
);
export const payUpdate = defineUpdate<SubmitAnswer, [PayOrder]>(UPDATES.pay);

export interface Resolution extends ResolveOrder {
  readonly action: ParkAction;
}

/**
 * The state of the flow's money: it watches a payment that was started elsewhere, and has no claim (`elsewhere`);
 * nothing was scheduled in this run that could send (`unsent`); a submit may come or is in progress, and the claim
 * decides (`claimed`); money may have moved (`sent`).
 */
export type MoneyPhase =
  | { readonly at: 'elsewhere' }
  /** `done`: operations that were executed, and moved nothing. */
  | { readonly at: 'unsent'; readonly done?: readonly string[] }
  /** `isWaiting`: nothing is in progress yet, for example while the quote waits for its approval. */
  | { readonly at: 'claimed'; readonly claim: ClaimRef; readonly isWaiting?: true }
  | { readonly at: 'sent' };
