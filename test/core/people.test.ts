import { describe, expect, it } from '@jest/globals';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { REFUND_INVOICE_NEEDED } from '../../src/protocol/statuses.js';
import { bankCheckoutPlan } from '../../workflows/bank-checkout.js';
import { cryptoSendPlan } from '../../workflows/crypto-send.js';
import { kycCheckPlan } from '../../workflows/kyc-check.js';
import { offrampPlan } from '../../workflows/offramp.js';
import { onrampPlan } from '../../workflows/onramp.js';
import { newKnown } from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import { factsOfRefund } from '../../workflows/engine/refund-amounts.js';
import { outcomeOf } from '../../workflows/engine/report.js';
import { view } from '../../workflows/engine/view.js';
import { trusted } from '../harness/inputs.js';
import { flowOf, TIMES } from './flow-of.js';

const INVOICE = { invoice: 'ln', amountMsat: '1', paymentHash: 'ab', payee: 'cd', expiresAt: 'soon' };

const claim = (status: string, id = status): FlowEvent => ({ ...trusted(status), id, trusted: false, proof: null });
const LIGHTNING = { chain: 'LIGHTNING', token: 'SAT', cryptoAmount: '21' };

describe('a refund over Lightning', () => {
  const owed = () => {
    const flow = flowOf(offrampPlan, LIGHTNING);
    flow.answered();
    flow.looksUp('FAILED');
    return flow;
  };
  const given = (flow: ReturnType<typeof owed>, expiresAtMs: number): void => {
    flow.order('refund-invoice', { invoice: 'ln' });
    flow.ends('check-invoice', { of: 'check-invoice', given: { ...INVOICE, expiresAtMs }, why: null });
  };

  it('is as large as its own event says, and not one that a person dismissed', () => {
    const flow = owed();
    const facts = { refundAmountMsat: '1' };
    flow.event({ ...trusted(REFUND_INVOICE_NEEDED), id: 'other', facts: { ...facts, reference: 'r-2' } });
    expect(flow.shown().parked?.reason).toBe('event_mismatch');
    flow.order('dismiss-event', { eventId: 'other' });
    expect(factsOfRefund(view(flow.known(), offrampPlan, 0))).toEqual({});
    flow.event({ ...trusted(REFUND_INVOICE_NEEDED), id: 'own', facts: { refundAmountMsat: '20000' } });
    expect(factsOfRefund(view(flow.known(), offrampPlan, 0))).toEqual({ refundAmountMsat: '20000' });
  });

  it('asks for another invoice when one expires, although the event that asks for one never came', () => {
    const flow = owed();
    given(flow, 600_000);
    expect(flow.shown().parked?.reason).toBe('refund_invoice_ready');
    flow.at(600_000);
    expect(flow.shown().parked?.reason).toBe('refund_invoice_needed');
    expect(flow.codes()).toContain('refund-invoice-expired');
    expect(flow.codes()).not.toContain('decided-meanwhile');
  });

  it('is not asked for, nor shown, once a trusted event says that it was made, though no lookup shows that', () => {
    const flow = owed();
    given(flow, 600_000);
    flow.event(trusted('REFUNDED'));
    flow.ends('look-status', { of: 'follow', lookup: 'shown', word: 'FAILED', shown: {} });
    expect(flow.shown().parked).toBeNull();
    expect(offrampPlan.whyNoInvoice?.(view(flow.known(), offrampPlan, 0))).toMatchObject({ code: 'no_refund_owed' });
  });

  it('that an event announces keeps the flow from ending as if nothing had come in', () => {
    const flow = flowOf(offrampPlan, LIGHTNING);
    flow.answered();
    flow.event(trusted(REFUND_INVOICE_NEEDED));
    flow.ends('look-status', { of: 'follow', lookup: 'shown', word: 'CRYPTO_NOT_RECEIVED', shown: {} });
    expect(flow.shown().parked?.reason).toBe('conflict');
  });

  it('ends the flow by the word that decided, whatever only an event has said', () => {
    const flow = owed();
    flow.event(trusted(REFUND_INVOICE_NEEDED));
    flow.looksUp('REFUNDED');
    const { end } = flow.decide();
    expect(end && outcomeOf(offrampPlan, flow.known(), end, 0).detail).toContain('(REFUNDED)');
  });
});

describe('the story of an onramp', () => {
  const PAYS = { mobileMoney: {}, bankCheckout: undefined };

  it('has its answer, and how to pay, also if an event came before it', () => {
    const flow = flowOf(onrampPlan, PAYS);
    flow.event(trusted('FIAT_PENDING'));
    flow.answered({ redirectUrl: 'https://pay.example' });
    const order = flow.codes().filter((code) => ['proven', 'accepted', 'pays-at-redirect'].includes(code));
    expect(order).toEqual(['proven', 'accepted', 'pays-at-redirect']);
  });

  it('has that the way to pay was lost with the answer, if only an event proves it', () => {
    const flow = flowOf(onrampPlan, { bankCheckout: {} });
    flow.unanswered();
    flow.event(trusted('FIAT_PENDING'));
    expect(flow.codes()).toContain('redirect-lost');
  });
});

describe('a checkout of which nothing is proven at its deadline', () => {
  const overdue = (...events: readonly FlowEvent[]) => {
    const flow = flowOf(bankCheckoutPlan);
    flow.answered();
    events.forEach(flow.event);
    flow.overdue();
    return flow;
  };

  it('asks the same on when an event comes that proves nothing, and shows it', () => {
    const flow = overdue();
    const { since } = flow.shown().parked ?? {};
    expect(flow.shown().parked?.reason).toBe('no_settlement');
    flow.event(claim('SUCCESSFUL'));
    const { parked } = flow.shown();
    expect(parked).toMatchObject({ reason: 'no_settlement', since });
    expect(parked?.evidence['claimed']).toHaveLength(1);
  });

  it('reads the inbox before a person vouches for an event, which then counts, and is told', () => {
    const flow = overdue(claim('SUCCESSFUL'));
    expect(flow.shown().parked?.reason).toBe('unverified_settlement');
    flow.order('trust-settlement', { eventId: 'SUCCESSFUL' });
    expect(flow.known().orders[0]?.became).toBeNull();
    flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.codes().slice(-2)).toEqual(['order-taken', 'event-applied']);
    expect(flow.decide().end).toMatchObject({ state: 'completed' });
  });

  it('is not vouched for against a failure that the inbox holds', () => {
    const flow = overdue(claim('SUCCESSFUL'));
    flow.order('trust-settlement', { eventId: 'SUCCESSFUL' });
    flow.ends('read-inbox', { of: 'read-inbox', events: [trusted('FAILED')] });
    expect(flow.known().orders[0]).toMatchObject({ became: 'refused' });
  });
});

describe('a failure that cannot be ended while the inbox cannot be read', () => {
  it('is parked with the word and the cause', () => {
    const flow = flowOf(bankCheckoutPlan);
    flow.answered();
    flow.event(trusted('FAILED'));
    flow.at(bankCheckoutPlan.graceMs);
    flow.ends('read-inbox', { of: 'no-answer' });
    const { parked } = flow.shown();
    expect(parked?.reason).toBe('step_failed');
    expect(parked?.evidence).toMatchObject({ code: 'store_unavailable', words: ['FAILED'] });
  });
});

describe('a KYC record that was rejected', () => {
  it('is looked up again before that is the end, if an event reports another decision; and the last word counts', () => {
    const flow = flowOf(kycCheckPlan);
    flow.looksUp('REJECTED');
    flow.ends('read-inbox', { of: 'read-inbox', events: [trusted('APPROVED')] });
    flow.ends('look-status', { of: 'follow', lookup: 'shown', word: 'APPROVED', shown: {} });
    expect(flow.decide().end).toMatchObject({ state: 'completed' });
  });
});

describe('a POST that may be under way', () => {
  it('is not marked as failed, although it cannot be asked about', () => {
    const flow = flowOf(cryptoSendPlan);
    flow.unanswered();
    flow.ends('ask', { of: 'cannot-ask', why: 'a new contract' });
    expect(flow.shown().parked?.reason).toBe('step_failed');
    flow.order('mark-failed');
    flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    flow.ends('look', { of: 'cannot-ask', why: 'a new contract' });
    expect(flow.known().orders[0]).toMatchObject({ became: 'refused', why: { code: 'post_under_way' } });
  });
});

describe('a POST of an earlier run', () => {
  it('has a reason in the evidence', () => {
    const known = newKnown(['checkout'], TIMES, 0);
    const claims = { checkout: { claim: 'sending', sent: 'unknown' } } as const;
    const step = { id: 'check', do: 'check', request: '', turn: 0 } as const;
    const result = { of: 'check', prepared: null, refusal: null, claims, events: [] } as const;
    const after = learn(known, { is: 'result', step, result }, 0);
    expect(after.requests['checkout']?.shown.why).toEqual(expect.any(String));
  });
});
