import { describe, expect, it } from '@jest/globals';
import { bridgeTransferPlan } from '../../workflows/core/bridge/plan.js';
import { PLAIN_SEND, type StepName } from '../../workflows/core/known.js';
import { trusted } from '../harness/inputs.js';
import { DEPOSIT_ANSWER, preparedTransfer, QUOTE } from '../model/bridge.js';
import { flowOf } from './flow-of.js';

const FAILED = { failureStage: 'settlement', refundAnnounced: 'true' };
const HOUR_MS = 3_600_000;

/** A transfer whose input orders a refund. */
function transfer() {
  const flow = flowOf(bridgeTransferPlan, undefined, { prepared: preparedTransfer(false), quote: QUOTE });
  const running = () => flow.known().running.map(({ id }) => id);
  return { ...flow, running, parked: () => flow.shown().parked };
}

/** It failed, the time that the service has for its own refund is over, and ours is being sent. */
function refunding() {
  const flow = transfer();
  flow.answered(DEPOSIT_ANSWER);
  flow.event(trusted('FAILED', { facts: FAILED }));
  flow.at(HOUR_MS);
  flow.ends('read-inbox', { of: 'read-inbox', events: [] });
  expect(flow.running()).toEqual(['send refund']);
  return flow;
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
    flow.event(trusted('FAILED', { facts: FAILED }));
    const { deadlineAtMs } = flow.known();
    flow.at(deadlineAtMs);
    flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.running()).toEqual(['send refund']);
    flow.at(flow.known().deadlineAtMs);
    expect(flow.known().deadlineAtMs).toBeGreaterThan(deadlineAtMs);
    expect(flow.parked()?.reason).toBe('refund_unknown');
  });

  it('that was ordered once more is taken back when a trusted COMPLETED comes', () => {
    const flow = refunding();
    flow.ends('send', { ...PLAIN_SEND, answer: 'unknown', shown: { why: 'it was lost' } });
    const ends = (what: StepName) => {
      if (what === 'read-inbox') return flow.ends(what, { of: 'read-inbox', events: [] });
      flow.ends(what, { of: 'look', claim: 'sending', lookup: 'absent', windowOver: true, isOther: false, shown: {} });
    };
    flow.at(HOUR_MS + 600_000);
    ends('look');
    expect(flow.parked()?.reason).toBe('refund_unknown');
    flow.order('send-again');
    ends('read-inbox');
    ends('look');
    flow.event(trusted('COMPLETED'));
    flow.ends('order-send', { of: 'order-send', isTaken: true, claim: 'ordered', sent: 'unknown' });
    expect(flow.running()).toEqual(['take-back refund']);
  });
});

describe('a deposit that the service refused', () => {
  it.each(['COMPLETED', 'SUCCESSFUL'])('does not end as failed against an untrusted %s', (word) => {
    const flow = transfer();
    flow.event({ ...trusted(word), trusted: false, proof: null });
    const rejection = { httpStatus: 400, message: 'no', fields: [] } as never;
    flow.ends('send', { ...PLAIN_SEND, answer: 'rejected', shown: { rejection } });
    if (flow.runs('read-inbox')) flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    expect(flow.decide().end).toBeNull();
    expect(flow.parked()?.reason).toBe('conflict');
  });
});
