import { describe, expect, it } from '@jest/globals';
import { cryptoSendPlan } from '../../workflows/crypto-send.js';
import { newKnown, type Input, type Result, type StepName } from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import { settle } from '../../workflows/engine/settle.js';
import { TIMES } from './flow-of.js';

const CLAIMS = { send: { claim: 'reserved', sent: 'turned-away' } } as const;
const PREPARED = { windows: { settleMs: 90_000 }, steps: { send: { facts: {} } }, input: {} } as never;

describe('a POST that the service turned away in an earlier run', () => {
  it('is known by its terms before anything is decided about it, also if the deadline came before the check', () => {
    let known = newKnown(['send'], TIMES, 0);
    const nowMs = known.deadlineAtMs;
    const decide = () => ({ known } = settle(known, cryptoSendPlan, nowMs)).decision;
    const take = (input: Input) => ((known = learn(known, input, nowMs)), decide());
    const ends = (what: StepName, result: Result) => {
      const step = known.running.find((one) => one.do === what);
      if (step === undefined) throw new Error(`${what} does not run`);
      return take({ is: 'result', step, result });
    };
    expect(decide().rule).toBe('expire');
    // Without its terms nothing could be asked of the service, and no order about it could be carried out.
    ends('void', { of: 'void', isDone: false, claims: CLAIMS, events: [] });
    expect(known.running.map((step) => step.do)).toEqual(['check']);
    expect(known.parked).toMatchObject({
      reason: 'step_failed',
      actions: ['mark-completed', 'mark-failed', 'mark-refunded'],
    });
    ends('check', { of: 'check', prepared: PREPARED, refusal: null, claims: CLAIMS, events: [] });
    expect(known.running).toMatchObject([{ do: 'void', stop: 'expired', looksFirst: true }]);
  });
});
