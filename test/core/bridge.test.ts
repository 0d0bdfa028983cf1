import { describe, expect, it } from '@jest/globals';
import type { LookupSays } from '../../src/protocol/decisions.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { bridgeTransferPlan } from '../../workflows/bridge-transfer.js';
import { PLAIN_SEND, type ClaimReading, type ForPersons } from '../../workflows/engine/known.js';
import { trusted } from '../harness/inputs.js';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import { DEPOSIT_ANSWER, preparedTransfer, QUOTE } from '../model/bridge.js';
import { flowOf } from './flow-of.js';

const FAILED = { failureStage: 'settlement', refundAnnounced: 'true' };
const HOUR_MS = 3_600_000;

/** A transfer whose input orders a refund. */
function transfer(isByPerson = false) {
  const flow = flowOf(bridgeTransferPlan, undefined, { prepared: preparedTransfer(isByPerson, {}), quote: QUOTE });
  if (isByPerson) flow.order('approve-quote');
  const running = () => flow.known().running.map(({ id }) => id);
  const inbox = (events: readonly FlowEvent[] = []) => {
    if (flow.runs('read-inbox')) flow.ends('read-inbox', { of: 'read-inbox', events });
  };
  const look = (lookup: LookupSays = 'absent') => {
    const says = { claim: 'sending', lookup, windowOver: true, isOther: false, shown: {} } as const;
    flow.ends('look', { of: 'look', ...says });
  };
  return {
    ...flow,
    running,
    inbox,
    look,
    parked: () => flow.shown().parked,
    refund: () => flow.known().transfer?.refund,
  };
}

const failed = (facts: Record<string, string> = {}, id = 'failed') =>
  trusted('FAILED', { id, facts: { ...FAILED, ...facts } });
const unproven = (status: string, facts: Record<string, string> = {}): FlowEvent => ({
  ...trusted(status, { facts }),
  trusted: false,
  proof: null,
});

/** It failed, the time that the service has for its own refund is over, and ours is being sent. */
function refunding() {
  const flow = transfer();
  flow.answered(DEPOSIT_ANSWER);
  flow.event(failed());
  flow.at(HOUR_MS / 2);
  flow.inbox();
  expect(flow.running()).toEqual(['send refund']);
  return flow;
}

/** Its answer was lost, and a person is asked. */
function unknownRefund() {
  const flow = refunding();
  flow.ends('send', { ...PLAIN_SEND, answer: 'unknown', shown: { why: 'it was lost' } });
  flow.at(HOUR_MS / 2 + 600_000);
  flow.look();
  expect(flow.parked()?.reason).toBe('refund_unknown');
  return flow;
}

/** It was reset: its deposit was answered, it failed, and the claim of its refund is so. */
function afterReset(refund: ClaimReading) {
  const claims = { deposit: { claim: 'answered', sent: 'unknown' }, refund } as const;
  const events = [failed()];
  const flow = flowOf(bridgeTransferPlan, undefined, {
    prepared: preparedTransfer(false, {}),
    quote: QUOTE,
    claims,
    events,
  });
  const looked = { of: 'look', claim: 'answered', lookup: 'cannot-tell', windowOver: true, isOther: false } as const;
  return { ...flow, finds: (shown: Partial<ForPersons>) => flow.ends('look', { ...looked, shown }) };
}

describe('a refund of a bridge transfer', () => {
  it('is not awaited past the deadline: a person decides', () => {
    const flow = refunding();
    flow.at(flow.known().deadlineAtMs);
    expect(flow.parked()?.reason).toBe('refund_unknown');
    expect(flow.running()).not.toContain('send refund');
  });

  it('that is due at the deadline is sent, with a deadline of its own', () => {
    const flow = transfer();
    flow.answered(DEPOSIT_ANSWER);
    flow.event(failed());
    const { deadlineAtMs } = flow.known();
    flow.at(deadlineAtMs);
    flow.inbox();
    expect(flow.running()).toEqual(['send refund']);
    flow.at(flow.known().deadlineAtMs);
    expect(flow.known().deadlineAtMs).toBeGreaterThan(deadlineAtMs);
    expect(flow.parked()?.reason).toBe('refund_unknown');
  });

  it('that was ordered once more is taken back when a trusted COMPLETED comes', () => {
    const flow = unknownRefund();
    flow.order('send-again');
    flow.inbox();
    flow.look();
    flow.event(trusted('COMPLETED'));
    flow.ends('order-send', { of: 'order-send', isTaken: true, claim: 'ordered', sent: 'unknown' });
    expect(flow.running()).toEqual(['take-back refund']);
  });

  it.each(['mark-refunded', 'close-without-refund', 'mark-completed'] as const)(
    'is not sent by the input alone once a person was asked: not by %s, nor as time passes',
    (action) => {
      const flow = transfer();
      flow.answered(DEPOSIT_ANSWER);
      flow.at(50 * 60_000);
      flow.event(failed());
      flow.at(HOUR_MS);
      flow.inbox();
      expect(flow.parked()).toMatchObject({ reason: 'refund_needed', evidence: { code: 'service_may_refund' } });
      flow.at(70 * 60_000);
      flow.event(unproven('SETTLING'));
      flow.inbox();
      expect(flow.running()).not.toContain('send refund');
      flow.order(action);
      flow.inbox();
      if (flow.runs('look')) flow.look();
      expect(flow.running()).toEqual([`last-word deposit     ${70 * 60_000} ${action}`]);
    },
  );

  it("is not sent by the terms of another's deposit", () => {
    const flow = transfer();
    flow.ends('send', { ...PLAIN_SEND, answer: 'accepted', isOther: true, shown: { answer: DEPOSIT_ANSWER } });
    flow.event(failed());
    flow.at(HOUR_MS / 2);
    expect(flow.parked()?.reason).toBe('conflict');
    flow.order('mark-failed');
    flow.inbox();
    expect(flow.running()).not.toContain('send refund');
    expect(flow.known().orders[0]?.became).not.toBe('refused');
  });

  it("that never left is not ordered again beside the service's own, which has begun since", () => {
    const flow = transfer(true);
    flow.answered(DEPOSIT_ANSWER);
    flow.event(failed());
    flow.at(HOUR_MS / 2);
    flow.inbox();
    flow.order('refund-now');
    flow.inbox();
    flow.at(flow.known().deadlineAtMs);
    flow.at(flow.known().deadlineAtMs + 600_000);
    if (flow.runs('look')) flow.look();
    expect(flow.parked()?.reason).toBe('refund_unknown');
    flow.order('send-again');
    flow.inbox();
    flow.look();
    flow.event(failed({ refundStartedAt: 'now', refundStatus: 'PROCESSING' }, 'theirs'));
    flow.ends('order-send', { of: 'order-send', isTaken: true, claim: 'free', sent: 'nothing' });
    flow.inbox();
    expect(flow.running()).not.toContain('send refund');
    expect(flow.parked()).toMatchObject({ reason: 'refund_needed', evidence: { code: 'service_refund_begun' } });
  });

  it('of which an earlier run may have sent waits for the terms in the claim of the deposit', () => {
    const flow = afterReset({ claim: 'sending', sent: 'unknown' });
    expect(flow.known().running.map((step) => [step.do, step.request])).toEqual([['look', 'deposit']]);
    flow.finds({ answer: DEPOSIT_ANSWER });
    expect(flow.known().running.map(({ request }) => request)).toEqual(['refund']);
  });

  it('of which an earlier run may have sent, and whose terms are lost, is not sent again', () => {
    const flow = afterReset({ claim: 'ordered', sent: 'unknown' });
    flow.finds({});
    expect(flow.known().running.map(({ id }) => id)).toEqual(['take-back refund']);
  });

  it('that was held back, and is sent since, is not awaited past the deadline', () => {
    const flow = refunding();
    flow.ends('send', { ...PLAIN_SEND, answer: 'held-back' });
    flow.event(trusted('SETTLING'));
    flow.inbox();
    expect(flow.running()).toEqual(['send refund']);
    flow.at(flow.known().deadlineAtMs);
    expect(flow.running()).not.toContain('send refund');
    expect(flow.parked()?.reason).toBe('refund_unknown');
  });

  it('whose repeat was held back is no other amount later: what the first POST was is kept', () => {
    const flow = unknownRefund();
    flow.order('send-again');
    flow.inbox();
    flow.look();
    flow.ends('order-send', { of: 'order-send', isTaken: true, claim: 'ordered', sent: 'unknown' });
    flow.ends('send', { ...PLAIN_SEND, answer: 'held-back' });
    flow.inbox([failed({ refundCryptoAmount: '3' }, 'less')]);
    expect(flow.refund()).toMatchObject({ cryptoAmount: '7' });
    if (flow.runs('take-back')) flow.ends('take-back', { of: 'take-back', claim: 'sending', sent: 'unknown' });
    expect(flow.running()).toEqual(['ask refund']);
    flow.at(flow.known().deadlineAtMs);
    flow.look();
    expect(flow.parked()?.reason).toBe('refund_unknown');
    expect(flow.parked()?.actions).not.toContain('send-again');
  });

  it('is not ordered where its claim is closed: the order would do nothing', () => {
    const flow = afterReset({ claim: 'void', sent: 'nothing' });
    flow.finds({ answer: DEPOSIT_ANSWER });
    flow.at(HOUR_MS / 2);
    flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.shown().parked).toMatchObject({ reason: 'refund_needed', evidence: { code: 'refund_claim_closed' } });
    expect(flow.shown().parked?.actions).not.toContain('refund-now');
  });
});

describe('a transfer whose deposit can be looked up live', () => {
  const live = { live: LIVE_OPERATIONS };
  const shownBy = (word: string, facts: Record<string, string>) =>
    ({ of: 'follow', lookup: 'shown', word, facts, shown: {} }) as const;

  it('fails by an event only after the grace, if the lookup does not know the deposit', () => {
    const flow = flowOf(bridgeTransferPlan, undefined, { prepared: preparedTransfer(false, live), quote: QUOTE });
    flow.answered(DEPOSIT_ANSWER);
    flow.event(trusted('FAILED', { id: 'failed', facts: { failureStage: 'DEPOSIT' } }));
    flow.ends('look-status', { of: 'follow', lookup: 'no-lookup', word: null, shown: {} });
    if (flow.runs('read-inbox')) flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.decide().end).toBeNull();
  });

  it('is not refunded by the input alone in a later run, which cannot know what an earlier one had looked up', () => {
    const claims = {
      deposit: { claim: 'answered', sent: 'unknown' },
      refund: { claim: 'free', sent: 'nothing' },
    } as const;
    const flow = flowOf(bridgeTransferPlan, undefined, {
      prepared: preparedTransfer(false, live),
      quote: QUOTE,
      claims,
    });
    const shown = { answer: DEPOSIT_ANSWER };
    flow.ends('look', { of: 'look', claim: 'answered', lookup: 'shown', windowOver: true, isOther: false, shown });
    flow.ends('follow', shownBy('FAILED', FAILED));
    flow.at(HOUR_MS / 2);
    if (flow.runs('read-inbox')) flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    if (flow.runs('look-status')) flow.ends('look-status', shownBy('FAILED', FAILED));
    expect(flow.runs('send')).toBe(false);
    expect(flow.shown().parked?.reason).toBe('refund_needed');
  });
});

describe('a refund for which a person was asked', () => {
  it('is not sent by the input alone, though another question came between', () => {
    const flow = transfer();
    flow.answered(DEPOSIT_ANSWER);
    flow.at(50 * 60_000);
    flow.event(failed());
    flow.at(HOUR_MS);
    flow.inbox();
    expect(flow.parked()?.reason).toBe('refund_needed');
    flow.at(70 * 60_000);
    flow.event(trusted('SETTLING', { id: 'other', facts: { settlementAmount: '1' } }));
    flow.inbox();
    expect(flow.parked()?.reason).toBe('event_mismatch');
    flow.order('dismiss-event', { eventId: 'other' });
    flow.inbox();
    expect(flow.running()).not.toContain('send refund');
    expect(flow.parked()?.reason).toBe('refund_needed');
  });

  it('or for which an earlier run may have asked one, is not sent by the input alone', () => {
    const flow = afterReset({ claim: 'free', sent: 'nothing' });
    flow.finds({ answer: DEPOSIT_ANSWER });
    flow.at(HOUR_MS / 2);
    if (flow.runs('read-inbox')) flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.runs('send')).toBe(false);
    expect(flow.shown().parked?.reason).toBe('refund_needed');
  });
});

describe("a report of the provider's ending", () => {
  it('that gets no answer is a question for a person', () => {
    const flow = transfer();
    flow.answered(DEPOSIT_ANSWER);
    flow.event({ ...trusted('COMPLETED', { id: 'done' }), source: 'settlement' });
    flow.ends('report', { of: 'no-answer' });
    expect(flow.parked()?.reason).toBe('report_refused');
    expect(flow.running()).toEqual([expect.stringContaining('report deposit')]);
  });
});

describe('a deposit under whose reference another request was made', () => {
  it('ends as that, however old its quote is by then', () => {
    const flow = transfer();
    flow.ends('send', { ...PLAIN_SEND, answer: 'other-request' });
    flow.at(59_000);
    expect(flow.running()).toEqual([expect.stringContaining('read-inbox')]);
    flow.inbox();
    expect(flow.decide().end).toMatchObject({ state: 'failed', reason: 'other_request_same_reference' });
  });
});

describe('a deposit that the service refused', () => {
  it.each([
    ['COMPLETED', {}],
    ['SUCCESSFUL', {}],
    ['PAYMENT_CONFIRMED', {}],
    ['SETTLING', {}],
    ['FAILED', { refundAnnounced: 'true' }],
  ])('does not end as failed against an untrusted %s %j', (word, facts) => {
    const flow = transfer();
    flow.event(unproven(word, facts));
    const rejection = { httpStatus: 400, message: 'no', fields: [] } as never;
    flow.ends('send', { ...PLAIN_SEND, answer: 'rejected', shown: { rejection } });
    flow.inbox();
    expect(flow.decide().end).toBeNull();
    expect(flow.parked()?.reason).toBe('conflict');
  });
});
