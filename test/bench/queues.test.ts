import { describe, expect, it } from 'vitest';
import { firstFull, scaled, unitsFor, unitsOf } from '../../bench/scale/model.js';
import { capacityOf, loadOf, simulateWaits, type Station } from '../../bench/scale/queues.js';

const RUN = { requests: 200_000, seed: 7 };

/** Erlang's formula: the mean wait of M/M/c, in milliseconds. */
function meanWaitMs(station: Station, flowsPerSecond: number): number {
  const { places, serviceMs } = station;
  const load = loadOf(station, flowsPerSecond);
  let blocked = 1;
  for (let place = 1; place <= places; place += 1)
    blocked = (blocked * load * places) / (place + blocked * load * places);
  const waits = blocked / (1 - load * (1 - blocked));
  return (waits * serviceMs) / (places * (1 - load));
}

describe('the simulation of a queue', () => {
  it.each([
    [1, 0.5],
    [1, 0.8],
    [4, 0.8],
  ])('waits as long as the formula for M/M/%d says, with %d of it busy', (places, busy) => {
    const station = { name: 'a part', places, serviceMs: 10, perFlow: 2 };
    const rate = capacityOf(station) * busy;
    const expected = meanWaitMs(station, rate);
    const { meanMs, p99Ms } = simulateWaits(station, rate, RUN);
    expect(Math.abs(meanMs - expected) / expected).toBeLessThan(0.1);
    expect(p99Ms).toBeGreaterThan(meanMs);
    expect(simulateWaits(station, rate, RUN)).toEqual({ meanMs, p99Ms });
  });
});

describe('the capacity model', () => {
  const units = unitsOf({ serverMs: 30, workerMs: 15, gatewayMsPerWebhook: 0.5 });

  it('gives each part so many units that it is at most 60 % busy, and no unit more', () => {
    for (const unit of units) {
      const count = unitsFor(unit, 1_000);
      expect(loadOf(scaled(unit, count), 1_000)).toBeLessThanOrEqual(0.6);
      if (count > 1) expect(loadOf(scaled(unit, count - 1), 1_000)).toBeGreaterThan(0.6);
    }
  });

  it('names the part that has the least room', () => {
    const { station, flowsPerSecond } = firstFull(units);
    expect(loadOf(station, flowsPerSecond)).toBeCloseTo(1);
    expect(units.every((unit) => loadOf(unit, flowsPerSecond) <= 1.000_001)).toBe(true);
  });
});
