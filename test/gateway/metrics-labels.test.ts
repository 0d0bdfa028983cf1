import { expect, it } from '@jest/globals';
import { createMetrics } from '../../src/gateway/ops/metrics.js';

it('metrics: value in flight has a series for each currency and token of the interface, and one for all other words', async () => {
  const metrics = createMetrics({
    unreadableFlows: () => 0,
    inbox: { counts: () => Promise.reject(new Error('away')) },
    figures: () => Promise.reject(new Error('away')),
    quota: { bytes: () => 0, mostBytes: 1 },
    flowStats: () =>
      Promise.resolve({
        flows: [],
        contradicted: 0,
        inFlight: { KES: '10', USDC: '2.5', kes: '1', 'a"} 1': '3', invented: '4' },
        value: { atMs: 0, listedAtMs: 0, openRuns: 0, amounts: {}, withoutAmount: 0 },
        withoutAmount: 0,
        parked: {},
        parkedFor: {},
        overdue: 0,
        undelivered: 0,
        countedAtMs: 0,
      }),
  });
  const { text } = await metrics.print();
  const series = text.split('\n').filter((line) => line.startsWith('towline_value_in_flight{'));
  expect(series.toSorted()).toEqual([
    'towline_value_in_flight{currency="KES"} 11',
    'towline_value_in_flight{currency="USDC"} 2.5',
    'towline_value_in_flight{currency="other"} 7',
  ]);
});
