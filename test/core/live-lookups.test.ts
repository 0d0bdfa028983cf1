import { describe, expect, it } from '@jest/globals';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import { bankWithdrawalPlan } from '../../workflows/bank-withdrawal.js';
import { cardDepositPlan } from '../../workflows/card-deposit.js';
import { FAILURE_GRACE_MS } from '../../workflows/engine/policies.js';
import { trusted } from '../harness/inputs.js';
import { flowOf } from './flow-of.js';

const MISSED = { of: 'follow', lookup: 'no-lookup', word: null, shown: {} } as const;

/** The path of the live service may know mobile payouts alone, or no card deposits: that is not documented. */
describe.each([
  ['bank-withdrawal', bankWithdrawalPlan],
  ['card-deposit', cardDepositPlan],
])('a %s whose live lookup does not know it', (_, plan) => {
  const tracked = () => {
    const steps = { [plan.requests[0]?.name ?? '']: { facts: { amount: '100' } } };
    const pin = { live: LIVE_OPERATIONS };
    const flow = flowOf(plan, {}, { prepared: { windows: { settleMs: 90_000 }, steps, pin, input: {} } as never });
    flow.answered();
    const readsInbox = () => flow.runs('read-inbox') && flow.ends('read-inbox', { of: 'read-inbox', events: [] });
    return { ...flow, readsInbox };
  };

  it('completes by a trusted event', () => {
    const flow = tracked();
    flow.event(trusted('SUCCESSFUL', { id: 'paid' }));
    expect(flow.decide().end).toMatchObject({ state: 'completed' });
  });

  it('fails by a trusted event after the grace, during which the lookup is asked', () => {
    const flow = tracked();
    flow.event(trusted('FAILED', { id: 'failed' }));
    flow.ends('look-status', MISSED);
    flow.readsInbox();
    expect(flow.decide().end).toBeNull();
    flow.at(FAILURE_GRACE_MS);
    flow.readsInbox();
    expect(flow.decide().end).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  it('parks as a conflict if the lookup, asked during the grace, shows that it was paid', () => {
    const flow = tracked();
    flow.event(trusted('FAILED', { id: 'failed' }));
    flow.ends('look-status', { of: 'follow', lookup: 'shown', word: 'SUCCESSFUL', shown: {} });
    expect(flow.decide().end).toBeNull();
    expect(flow.shown().parked?.reason).toBe('conflict');
  });

  it('does not fail by an event alone if an untrusted one claims that it was paid', () => {
    const flow = tracked();
    flow.event(trusted('FAILED', { id: 'failed' }));
    flow.event(trusted('SUCCESSFUL', { id: 'claimed', trusted: false, proof: null }));
    expect(flow.decide().end).toBeNull();
    expect(flow.shown().parked?.reason).toBe('conflict');
  });

  it('fails at once if the lookup shows the failure', () => {
    const flow = tracked();
    flow.looksUp('FAILED');
    flow.readsInbox();
    expect(flow.decide().end).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });
});
