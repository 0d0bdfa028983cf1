import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { FlowReport } from '../../src/api/flow.js';
import type {
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
} from '../../src/protocol/vocabulary.js';
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
