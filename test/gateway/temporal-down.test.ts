import { describe, expect, it } from '@jest/globals';
import { outage } from './setup/outage.js';

const [FLOWS, WAVES] = [5, 10];
const TOTAL = FLOWS * WAVES;

describe('while Temporal is away', () => {
  it(`fault 36: each of ${TOTAL} webhooks is taken, and delivered once when it is back`, async () => {
    const after = await outage({ flows: FLOWS, waves: WAVES, everyMs: 0 });
    // No answer waits for Temporal, which cannot be reached until all of them are there.
    expect(after.statuses).toEqual(Array.from({ length: TOTAL }, () => 200));
    expect(after.noticed).toBe(true);
    expect(after.meanwhile).toEqual({ waiting: TOTAL, delivered: 0 });
    expect(after.stored).toHaveLength(TOTAL);
    expect(after.delivered).toEqual(after.stored);
    // Those of one flow go as one signal, and as a second one where the outage ended while one was on its way.
    expect(after.mostSignals).toBeLessThanOrEqual(2);
    // All say the same to a flow.
    expect(after.states).toMatchObject({ applied: FLOWS, duplicate: TOTAL - FLOWS });
  });
});
