import { expect, it } from '@jest/globals';
import type { ParkAction } from '../../src/protocol/vocabulary.js';
import { endFlow, endFromDecision, FlowEnd } from '../../workflows/engine/flow-end.js';

function endOf(end: () => never): FlowEnd {
  try {
    return end();
  } catch (error) {
    if (error instanceof FlowEnd) return error;
    throw error;
  }
}

it.each<[ParkAction, string, string | null, string]>([
  ['mark-completed', 'completed', null, 'Marked as completed by ada: looked into it'],
  ['mark-refunded', 'refunded', null, 'Marked as refunded by ada: looked into it'],
  ['mark-failed', 'failed', 'closed_by_person', 'Closed as failed by ada: looked into it'],
  ['close-without-refund', 'failed', 'closed_by_person', 'Closed as failed by ada: looked into it'],
])('the order %s of a person ends a flow as %s', (action, state, reason, detail) => {
  const end = endOf(() => endFromDecision({ action, actor: 'ada', note: 'looked into it' }));
  expect(end.outcome).toEqual({ state, reason, detail });
});

it('a flow that ends says how, why, and in a sentence', () => {
  const end = endOf(() => endFlow('expired', 'deadline_passed', 'It took too long.'));
  expect(end.outcome).toEqual({ state: 'expired', reason: 'deadline_passed', detail: 'It took too long.' });
  expect(end).toMatchObject({ name: 'FlowEnd', message: 'It took too long.' });
});
