import { describe, expect, it } from '@jest/globals';
import {
  createOpenSignals,
  untilFlowHeals,
  untilNextLook,
  untilSignalSeen,
  untilTemporalAnswers,
} from '../../src/gateway/dispatch/open-signals.js';

describe('how long the gateway waits', () => {
  it.each([
    ['a signal to be seen', untilSignalSeen, 50, 5_000],
    ['Temporal to answer', untilTemporalAnswers, 250, 4_000],
    ['the next question to a flow', untilNextLook, 2_000, 60_000],
    ['a flow to take its signal', untilFlowHeals, 1_000, 60_000],
  ] as const)('for %s is doubled each time, up to a limit', (_what, wait, firstMs, mostMs) => {
    expect([wait(0), wait(1), wait(3)]).toEqual([firstMs, firstMs * 2, firstMs * 8]);
    for (const times of [12, 21, 2_000]) expect(wait(times)).toBe(mostMs);
  });
});

describe('the flows whose last signal may not be seen', () => {
  it('are those that were signalled and are not known to have taken it', () => {
    const open = createOpenSignals();
    open.add('a');
    open.add('b');
    open.taken('a');
    expect(['a', 'b', 'c'].map((flowId) => open.has(flowId))).toEqual([false, true, false]);
  });

  it('are at most a hundred thousand: the one that was signalled longest ago is displaced', () => {
    const open = createOpenSignals();
    for (let n = 0; n < 100_000; n += 1) open.add(`${n}`);
    expect(open.has('0')).toBe(true);
    open.add('0');
    open.add('another');
    expect(['0', '1', '2', '99999', 'another'].map((flowId) => open.has(flowId))).toEqual([
      true,
      false,
      true,
      true,
      true,
    ]);
  });
});
