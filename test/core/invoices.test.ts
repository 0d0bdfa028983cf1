import { describe, expect, it } from '@jest/globals';
import { invoicePaymentPlan } from '../../workflows/invoice-payment.js';
import { PLAIN_SEND, type ClaimReading } from '../../workflows/engine/known.js';
import { flowOf } from './flow-of.js';

const PREPARED = {
  windows: { settleMs: 90_000 },
  steps: { pay: { facts: {}, claim: { fingerprint: 'f' } } },
  input: { pay: 'existing' },
} as never;

/** A payment of an invoice that is there, whose claim says this at the check. */
const paymentOf = (claim: ClaimReading = { claim: 'free', sent: 'nothing' }) =>
  flowOf(invoicePaymentPlan, {}, { prepared: PREPARED, claims: { pay: claim } });
const UNCLEAR = { of: 'paid', says: 'cannot-tell', word: null, shown: {} } as const;
const UNPAID = { of: 'paid', says: 'not-paid', word: null, shown: {} } as const;
const MISSING = { claim: 'sending', lookup: 'absent', isOther: false, shown: {} } as const;
const readInbox = { of: 'read-inbox', events: [] } as const;

describe("an invoice's question that two persons close", () => {
  // What was given up, and never marked, is closed as what was never sent.
  it.each(['nothing', 'unknown'] as const)(
    'is answered by the second one, whose order ends the flow, if %s was sent under the claim that the first one closed',
    (sent) => {
      const flow = paymentOf();
      flow.ends('look-paid', UNPAID);
      flow.ends('send', { ...PLAIN_SEND, answer: 'unknown', shown: { why: 'it was lost' } });
      flow.at(90_000);
      flow.ends('ask', { of: 'ask', ...MISSING, windowOver: true });
      flow.order('close-not-executed');
      flow.ends('read-inbox', readInbox);
      flow.ends('look', { of: 'look', ...MISSING, windowOver: false });
      flow.ends('close', { of: 'close', claim: 'void', sent });
      flow.ends('look-paid', UNCLEAR);
      const first = flow.known().orders[0];
      expect(first?.became).toBe('carried-out');

      flow.at(flow.known().deadlineAtMs);
      flow.ends('look-paid', UNCLEAR);
      expect(flow.shown().parked?.reason).toBe('payment_unclear');
      flow.order('close-not-executed');
      flow.ends('look-paid', UNCLEAR);
      flow.ends('read-inbox', readInbox);
      if (flow.runs('void'))
        flow.ends('void', { of: 'void', isDone: true, claims: { pay: { claim: 'void', sent } }, events: [] });
      else flow.ends('close', { of: 'close', claim: 'void', sent });
      if (flow.runs('read-inbox')) flow.ends('read-inbox', readInbox);
      const second = flow.known().orders[1];
      expect(second?.became).toBe('carried-out');
      expect(flow.decide().end).toEqual({ state: 'failed', reason: 'not_executed', order: second?.id });
    },
  );
});
