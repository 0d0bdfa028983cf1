import { OFFRAMP_WORDS } from '../src/protocol/statuses.js';
import { paymentFlow } from './engine/payment-flow.js';
import { OFFRAMP_FIRST_LOOK_MS } from './engine/policies.js';
import { handleInvoiceNeeded, refundInvoice, takeRefundInvoices } from './refund-invoice.js';

/**
 * An offramp: crypto comes in, fiat goes out to a phone or a bank account. `getOfframp` reports its end. FAILED is not
 * the end: the service refunds by itself some minutes later, and over Lightning it asks for an invoice to pay.
 */
export const offramp = paymentFlow(
  'offramp',
  {
    step: 'create',
    noun: 'the offramp',
    words: OFFRAMP_WORDS,
    hasLookup: true,
    firstLookMs: OFFRAMP_FIRST_LOOK_MS,
    stages: [
      ['crypto-leg', ['PENDING']],
      ['fiat-leg', ['CRYPTO_RECEIVED', 'PROCESSING', 'SUCCESS', 'SUCCESSFUL', 'COMPLETED']],
      ['refund', ['FAILED', 'REFUND_PENDING', 'REFUND_INVOICE_NEEDED', 'REFUNDED', 'REFUND_FAILED']],
    ],
    onEvent: handleInvoiceNeeded,
    waitStep: refundInvoice,
  },
  { prepared: takeRefundInvoices },
);
