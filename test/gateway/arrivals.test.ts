import { describe, expect, it } from '@jest/globals';
import { createArrivals } from '../../src/gateway/inbound/arrivals.js';

describe('how fast events come in', () => {
  const arrivals = () => {
    const clock = { ms: 0 };
    return { clock, ...createArrivals(() => clock.ms) };
  };

  it('is told by what came in the last few tenths of a second', () => {
    const { clock, note, perSecond } = arrivals();
    for (; clock.ms < 2_000; clock.ms += 2) note();
    expect(perSecond()).toBeGreaterThan(450);
    expect(perSecond()).toBeLessThan(550);
  });

  it('is nothing again half a second after the last one', () => {
    const { clock, note, perSecond } = arrivals();
    expect(perSecond()).toBe(0);
    for (; clock.ms < 1_000; clock.ms += 1) note();
    clock.ms += 500;
    expect(perSecond()).toBe(0);
    note();
    expect(perSecond()).toBeLessThan(10);
  });
});
