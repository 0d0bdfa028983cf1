import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { limitsOf, scaled, unitsFor, unitsOf } from '../../bench/scale/model.js';
import type { Finding } from '../../bench/report/finding.js';
import type { BenchmarkRun, Results } from '../../bench/report/write-results.js';
import { measuredIn, tablesOf, withTables } from '../../bench/scale/page.js';
import { capacityOf, loadOf, simulateWaits, type Station } from '../../bench/scale/queues.js';

const finding = (budget: string): Omit<Finding, 'figures'> => ({
  budget,
  what: 'a thing',
  limit: { bound: 'at most', value: 1 },
  unit: '×',
  measured: 1,
});
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
  ])("waits within 10 % of Erlang's formula for M/M/%d with %d of it busy", (places, busy) => {
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
  const bytes = { temporalBytes: 80_000, storeBytes: 10_000, logBytes: 150_000 };
  const units = unitsOf({ serverMs: 30, workerMs: 15, postgresMs: 40, gatewayMsPerWebhook: 0.5, ...bytes });

  it('gives each part so many units that it is at most 60 % busy, and no unit more', () => {
    for (const unit of units) {
      const count = unitsFor(unit, 1_000);
      expect(loadOf(scaled(unit, count), 1_000)).toBeLessThanOrEqual(0.6);
      if (count > 1) expect(loadOf(scaled(unit, count - 1), 1_000)).toBeGreaterThan(0.6);
    }
  });

  it('names the part that is full first', () => {
    const [first] = limitsOf(units);
    if (first === undefined) throw new Error('no parts');
    expect(loadOf(first.station, first.flowsPerSecond)).toBeCloseTo(1);
    expect(units.every((unit) => loadOf(unit, first.flowsPerSecond) <= 1.000_001)).toBe(true);
  });
});

describe('docs/scale.md', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const page = read('docs/scale.md');
  const results = JSON.parse(read('bench/results.json')) as Results;

  it('has the tables that `npm run scale -- --write` prints from the measured figures', () => {
    const tables = tablesOf(measuredIn(results));
    expect(tables.filter((table) => !page.includes(table))).toEqual([]);
    expect(withTables(page, tables)).toBe(page);
  });

  it('is made from the disk, log and CPU of a transfer in P13, not from those of the bare flow', () => {
    const figures = [
      'transfer 5.5 flows/s, CPU ms server 40.50 + worker 20.00 + worker 2 10.25 + postgres 30.75; bare 9.0 flows/s, CPU ms server 1.00 + worker 1.00 + postgres 1.00',
      "transfer Temporal 80.1 kB, store 10.2 kB, Postgres's log 150.3 kB; bare Temporal 1.0 kB, store 1.0 kB, Postgres's log 1.0 kB",
    ];
    const run = (budget: string, said: readonly string[]): BenchmarkRun => ({
      at: '2026-01-02T03:04:05Z',
      machine: 'machine-1',
      busy: null,
      findings: said.map((one) => ({ ...finding(budget), figures: one, met: true })),
    });
    const gateway = run('P4', ['duplicate 0.1 ms (gateway 0.1); fresh 6 ms (gateway 1.5 + server 3)']);
    expect(measuredIn({ cluster: run('P13', figures), gateway })).toEqual({
      costs: {
        serverMs: 40.5,
        workerMs: 30.25,
        postgresMs: 30.75,
        gatewayMsPerWebhook: 1.5,
        temporalBytes: 80_100,
        storeBytes: 10_200,
        logBytes: 150_300,
      },
      flowsPerSecond: 5.5,
      on: 'machine-1, 2026-01-02',
    });
  });
});
