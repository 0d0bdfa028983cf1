import { describe, expect, it } from '@jest/globals';
import { createArrivals } from '../../src/gateway/inbound/arrivals.js';

describe('how fast events come in', () => {
  const arrivalsByClock = () => {
    const clock = { ms: 0 };
    return { clock, arrivals: createArrivals(() => clock.ms) };
  };

  it('is told by what came in the last moments', () => {
    const { clock, arrivals } = arrivalsByClock();
    for (; clock.ms < 2_000; clock.ms += 2) arrivals.note();
    expect(arrivals.perSecond()).toBeGreaterThan(450);
    expect(arrivals.perSecond()).toBeLessThan(550);
    expect(arrivals.isRush()).toBe(true);
  });

  it('is nothing again half a second after the last one', () => {
    const { clock, arrivals } = arrivalsByClock();
    expect(arrivals.perSecond()).toBe(0);
    for (; clock.ms < 1_000; clock.ms += 1) arrivals.note();
    clock.ms += 500;
    expect(arrivals.perSecond()).toBe(0);
    arrivals.note();
    expect(arrivals.perSecond()).toBeLessThan(30);
    expect(arrivals.isRush()).toBe(false);
  });
});
