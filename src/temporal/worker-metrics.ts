import type { MetricMeter } from '@temporalio/common';
import { SERVICE_CALLS, WORK_COUNTERS, type WorkMetrics } from '../protocol/metrics.js';

/**
 * Counts with the SDK's own meter, so that a worker has one endpoint for both. Nothing is kept if no endpoint was
 * requested.
 *
 * @param moneyOperations their counters exist from the beginning, since to Prometheus a counter that begins at 1 never
 * rises
 */
export function createWorkerMetrics(meter: MetricMeter, moneyOperations: readonly string[]): WorkMetrics {
  const counters = new Map(
    Object.entries(WORK_COUNTERS).map(([name, { help }]) => {
      // The exporter puts it behind the name of each counter.
      return [name, meter.createCounter(name.replace(/_total$/, ''), undefined, help)];
    }),
  );
  const calls = meter.createHistogram(SERVICE_CALLS.name, 'float', undefined, SERVICE_CALLS.help);
  for (const operation of moneyOperations) {
    for (const outcome of ['accepted', 'rejected', 'unknown', 'not_sent']) {
      counters.get('towline_money_attempts_total')?.add(0, { operation, outcome });
    }
    counters.get('towline_claims_taken_over_total')?.add(0, { operation });
  }
  for (const result of ['delivered', 'refused', 'failed', 'held_back']) {
    counters.get('towline_callbacks_total')?.add(0, { result });
  }
  // Of this worker; set by the sending of callbacks.
  meter.createGauge('towline_callback_circuits_open', 'int').set(0);
  return {
    count: (name, labels) => counters.get(name)?.add(1, { ...labels }),
    serviceCall: ({ operation, result, seconds }) => calls.record(seconds, { operation, result }),
  };
}
