import { isIPv6 } from 'node:net';
import type { MetricMeter } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, Runtime, type LogEntry, type Logger } from '@temporalio/worker';
import { SERVICE_CALLS } from '../protocol/metrics.js';
import { flowIdOfCallbacks } from '../protocol/vocabulary.js';

/** The part of pino that we use. */
export interface LogSink {
  info(detail: object, message: string): void;
  warn(detail: object, message: string): void;
  error(detail: object, message: string): void;
  debug(detail: object, message: string): void;
}

/** Members of the SDK's log entries that only locate the entry, and hold no user data. */
const SAFE_MEMBERS: readonly string[] = [
  'activityId',
  'activityType',
  'attempt',
  'durationMs',
  'namespace',
  'runId',
  'sdkComponent',
  'state',
  'taskQueue',
  'workflowId',
  'workflowType',
];

/**
 * The SDK logs raw errors of activities and of workflow tasks, with everything in them. This passes on the SDK's own
 * words and an allow-list of members; of an error only the name.
 */
export function createSdkLogger(sink: LogSink): Logger {
  return new DefaultLogger('WARN', (entry) => {
    const members = safeMembers(entry);
    if (entry.level === 'ERROR') sink.error(members, entry.message);
    else if (entry.level === 'WARN') sink.warn(members, entry.message);
    else sink.info(members, entry.message);
  });
}

let installed = false;

/** Address at which a worker's metrics can be scraped: `ip:port`. */
export interface MetricsEndpoint {
  readonly host: string;
  readonly port: number;
}

/** The port of the metrics cannot be listened on. */
export class MetricsPortTakenError extends Error {
  override readonly name = 'MetricsPortTakenError';

  constructor({ host, port }: MetricsEndpoint) {
    super(`WORKER_METRICS_PORT ${port} on ${host} cannot be listened on: stop what does, or take another port.`);
  }
}

/**
 * A process has one runtime; a second worker in it shares the first one's logger and metrics.
 *
 * @param metrics @default none are kept
 * @throws MetricsPortTakenError
 */
export function installRuntime(sink: LogSink, metrics?: MetricsEndpoint): MetricMeter {
  if (!installed) {
    try {
      install(sink, metrics);
    } catch (error) {
      const isTaken = metrics !== undefined && error instanceof Error && /prometheus/i.test(error.message);
      throw isTaken ? new MetricsPortTakenError(metrics) : error;
    }
  }
  return Runtime.instance().metricMeter;
}

function install(sink: LogSink, metrics: MetricsEndpoint | undefined): void {
  // The worker's process decides when to shut down, in its own order: the SDK must not handle signals.
  Runtime.install({
    logger: createSdkLogger(sink),
    shutdownSignals: [],
    // The SDK's core would write to the console by itself, failures included.
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
      ...(metrics === undefined ? {} : { metrics: prometheusAt(metrics) }),
    },
  });
  installed = true;
}

/** Prometheus's own conventions: seconds, and `_total` behind counters. */
const prometheusAt = ({ host, port }: MetricsEndpoint) => ({
  attachServiceName: false,
  prometheus: {
    bindAddress: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: { [SERVICE_CALLS.name]: [...SERVICE_CALLS.buckets] },
  },
});

function safeMembers(entry: LogEntry): Record<string, unknown> {
  const meta: Readonly<Record<string, unknown>> = entry.meta ?? {};
  const members: Record<string, string> = Object.fromEntries(
    SAFE_MEMBERS.flatMap((name) => (name in meta ? [[name, String(meta[name])]] : [])),
  );
  const workflowId = members['workflowId'];
  if (workflowId !== undefined) members['flowId'] = flowIdOfCallbacks(workflowId) ?? workflowId;
  const error = meta['error'];
  return error instanceof Error ? { ...members, error: error.name } : members;
}
