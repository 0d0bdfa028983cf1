import { Counter, Histogram, Registry } from 'prom-client';
import { SERVICE_CALLS, WORK_COUNTERS, type WorkMetrics } from '../../protocol/metrics.js';

/** Metrics of this process's calls of the service, and of its worker for cards, for the gateway's `/metrics`. */
export interface GatewayWorkMetrics extends WorkMetrics {
  readonly register: Registry;
}

export function createWorkMetrics(): GatewayWorkMetrics {
  const register = new Registry();
  const registers = [register];
  const counters = new Map(
    Object.entries(WORK_COUNTERS).map(([name, { help, labels }]) => [
      name,
      new Counter({ name, help, labelNames: [...labels], registers }),
    ]),
  );
  const { name, help, labels, buckets } = SERVICE_CALLS;
  const calls = new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers });
  return {
    register,
    count: (counter, given) => counters.get(counter)?.inc({ ...given }),
    serviceCall: ({ operation, result, seconds }) => calls.observe({ operation, result }, seconds),
  };
}
