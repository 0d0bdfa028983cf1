import { describe, expect, it } from 'vitest';
import { createSignalPace } from '../../src/gateway/dispatch/signal-pace.js';

describe('how soon a flow is signalled again', () => {
  it('lets the first signal of a quiet flow go at once, and the next ones wait longer, up to a second', () => {
    const pace = createSignalPace(() => 0);
    expect(pace.restMs('a')).toBe(0);
    const rests = [1, 2, 3, 4].map(() => pace.signalled('a'));
    expect(rests).toEqual([250, 500, 1_000, 1_000]);
    expect([pace.restMs('a'), pace.restMs('b')]).toEqual([1_000, 0]);
  });

  it('sends a flow that is posted an event every 10 ms for a minute about a signal a second', () => {
    let now = 0;
    const pace = createSignalPace(() => now);
    let signals = 0;
    for (; now < 60_000; now += 10) {
      if (pace.restMs('a') > 0) continue;
      pace.signalled('a');
      signals += 1;
    }
    expect(signals).toBeGreaterThanOrEqual(60);
    expect(signals).toBeLessThanOrEqual(62);
  });

  it('is whole milliseconds by a clock that has parts of them, as the inbox keeps them', () => {
    let now = 0.4;
    const pace = createSignalPace(() => now);
    pace.signalled('a');
    now = 100.7;
    expect(pace.restMs('a')).toBe(150);
  });

  it('forgets a flow that had no signal for two seconds: it is a quiet one again', () => {
    let now = 0;
    const pace = createSignalPace(() => now);
    pace.signalled('a');
    pace.signalled('a');
    now = 2_000;
    expect(pace.restMs('a')).toBe(0);
    pace.signalled('b');
    expect(pace.signalled('a')).toBe(250);
  });
});
