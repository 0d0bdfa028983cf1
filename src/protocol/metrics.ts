/**
 * Counters of the work under claims. Labels come from a fixed vocabulary: never a reference, a receiver or a message.
 */
export const WORK_COUNTERS = {
  towline_money_attempts_total: {
    help: 'Attempts at a money-moving POST under its claim, by operation and outcome.',
    labels: ['operation', 'outcome'],
  },
  towline_claims_taken_over_total: {
    help: 'Claims that an attempt took over from another one, which had not sent yet.',
    labels: ['operation'],
  },
  towline_callbacks_total: {
    help: 'Attempts to deliver a callback to its caller, by result; held_back: not tried, for the sake of the others.',
    labels: ['result'],
  },
} as const;

/** Calls of the service, by operation and by their result on the wire. */
export const SERVICE_CALLS = {
  name: 'towline_service_call_seconds',
  help: 'Calls of the service, status lookups included, by operation and result.',
  labels: ['operation', 'result'],
  /** Seconds. */
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
} as const;

type Counters = typeof WORK_COUNTERS;

/** The counters of workers and gateways. */
export interface WorkMetrics {
  count<Name extends keyof Counters>(
    name: Name,
    labels: Readonly<Record<Counters[Name]['labels'][number], string>>,
  ): void;
  serviceCall(call: { readonly operation: string; readonly result: string; readonly seconds: number }): void;
}
