import { describe, expect, it } from '@jest/globals';
import type { Witnesses } from '../end-to-end/reconcile/witnesses.js';
import { ownFaults } from '../chaos/own-faults.js';
import { storiesOf } from '../chaos/stories.js';

const REFERENCE = 'chaos-1-7';
const FLOW_ID = `crypto-send/${REFERENCE}`;
const SENT_AT_MS = 1_000_000;
const POST = {
  method: 'POST',
  path: '/api/v3/crypto/send',
  body: JSON.stringify({ provider_reference_id: REFERENCE }),
  status: 200,
  atMs: SENT_AT_MS,
  answeredAtMs: SENT_AT_MS + 5,
  who: 'worker-1',
};
const DELIVERED = {
  path: `/callbacks/crypto-send/${REFERENCE}`,
  body: '{}',
  reference: REFERENCE,
  status: 'COMPLETED',
  isGenuine: true,
  answers: [200],
};
const run = { wire: [POST], deliveries: [DELIVERED], inbox: [], injections: [], strikes: [] };

describe('the judge of a chaos run', () => {
  it('excuses no parking of a flow whose POST was answered and whose event came', () => {
    expect(ownFaults(run)(REFERENCE)).toEqual([]);
  });

  it.each([
    ['as it is sent', 'worker-1', 0, 1],
    ['right after its answer', 'worker-1', 5, 1],
    ['before it is sent', 'worker-1', -1, 0],
    ['long after its answer', 'worker-1', 2_000, 0],
    ['as it is sent by another one', 'worker-2', 0, 0],
  ])(
    'excuses the parking of a flow whose process is struck (%s: %s) only while its POST is open',
    (_, who, afterMs, faults) => {
      const strikes = [{ who, atMs: SENT_AT_MS + afterMs }];
      expect(ownFaults({ ...run, strikes })(REFERENCE)).toHaveLength(faults);
    },
  );

  it('excuses the parking of a flow whose POST has no answer', () => {
    expect(ownFaults({ ...run, wire: [{ ...POST, status: null, answeredAtMs: null }] })(REFERENCE)).toHaveLength(1);
  });

  it('excuses the parking of a flow whose event no attempt delivered', () => {
    expect(ownFaults({ ...run, deliveries: [{ ...DELIVERED, answers: [] }] })(REFERENCE)).toHaveLength(1);
  });

  it('shows the story of a flow that a violation names, and of no other', () => {
    const flow = (reference: string) => ({
      flowId: `crypto-send/${reference}`,
      kind: 'crypto-send',
      reference,
      state: 'parked',
      reason: null,
    });
    const claims = [{ operation: 'sendCrypto', reference: REFERENCE, phase: 'answered', flowId: FLOW_ID }];
    const view = { state: 'parked', stage: 'tracking' };
    const reports = new Map([[FLOW_ID, { events: new Set<string>(), parkReason: 'no_settlement', said: { view } }]]);
    const witnesses = { ...run, flows: [flow(REFERENCE), flow(`${REFERENCE}1`)], claims } as unknown as Witnesses;
    const violations = [{ invariant: 'I12', what: `${FLOW_ID} is parked` }];
    const stories = storiesOf({ ...witnesses, injections: [], reports, histories: [] }, violations, []);
    expect(stories).toEqual({
      [FLOW_ID]: {
        flow: view,
        history: [],
        injections: [],
        wire: [expect.stringContaining('/api/v3/crypto/send')],
        deliveries: [{ status: 'COMPLETED', isGenuine: true, answers: [200] }],
        claims,
        inbox: [],
      },
    });
  });
});
