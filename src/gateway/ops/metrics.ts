import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance } from 'fastify';
import { FIAT_CURRENCIES, TOKENS } from '../../contract/vocabulary.js';
import { readCode } from '../../readers/code.js';
import type { StoreFigures } from '../../store/figures.js';
import type { InboxCounts } from '../../store/inbox.js';
import type { Store } from '../../store/store.js';
import type { FlowStats } from './flow-stats.js';
import type { InboxSource } from '../../protocol/events.js';

/** Reports from the parts of the gateway. */
export interface Metrics {
  /** A request was answered. `route` is the pattern, which holds no reference and no capability. */
  readonly answered: (request: { method: string; route: string; status: number; seconds: number }) => void;
  /** A webhook or callback was answered: `stored`, a `duplicate`, or `refused`. */
  readonly acknowledged: (source: InboxSource, result: 'stored' | 'duplicate' | 'refused', seconds: number) => void;
  /** Events reached their flow, this long after they were received. */
  readonly dispatched: (lagSeconds: readonly number[]) => void;
  /** In the text format of Prometheus. */
  print(): Promise<{ readonly type: string; readonly text: string }>;
}

/** From a database commit to a slow service, seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From at once to an outage of an hour, seconds. */
const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

export interface MetricsDeps {
  /** Flows whose events wait for a payload key. */
  readonly unreadableFlows: () => number;
  readonly inbox: Pick<Store['inbox'], 'counts'>;
  readonly figures: Store['figures'];
  /** Disk space of events without proof. */
  readonly quota: { readonly bytes: () => number; readonly mostBytes: number };
  /** Printed together with the gateway's own. */
  readonly besides?: Registry | undefined;
  /** Undefined while the flows could not be counted. */
  readonly flowStats: () => Promise<FlowStats | undefined>;
}

/** A registry of its own: several gateways may run in one process. */
export function createMetrics({ inbox, figures, quota, besides, flowStats, unreadableFlows }: MetricsDeps): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register, prefix: 'towline_' });

  const requests = new Histogram({
    name: 'towline_http_request_duration_seconds',
    help: 'Requests to the gateway, by route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: SECONDS,
    registers,
  });
  const acknowledgements = new Histogram({
    name: 'towline_event_acknowledgement_seconds',
    help: 'Webhooks and callbacks, from their last byte to the answer, the row on disk included.',
    labelNames: ['source', 'result'] as const,
    buckets: SECONDS,
    registers,
  });
  const lag = new Histogram({
    name: 'towline_event_dispatch_lag_seconds',
    help: 'From an event on disk to its signal at Temporal.',
    buckets: LAG_SECONDS,
    registers,
  });
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const events = gauge(
    'towline_events',
    'Events in the inbox by state, those of all gateways; `waiting` and `delivered` are pending.',
    ['state'],
  );
  const settled = new Counter({
    name: 'towline_events_settled_total',
    help: 'Events that this gateway settled, by the state that they got.',
    labelNames: ['state'] as const,
    registers,
  });
  const dropped = new Counter({
    name: 'towline_events_dropped_total',
    help: 'Events without proof that this gateway deleted: too old, or more than UNPROVEN_DISK_MB.',
    registers,
  });
  const unreadable = gauge(
    'towline_events_unreadable_flows',
    'Flows whose events wait, since this gateway lacks the payload key of one of them. Alert above 0.',
  );
  const contradicted = gauge(
    'towline_flows_contradicted',
    'Flows whose end is contradicted; towline_flows counts none of them.',
  );
  const flows = gauge('towline_flows', 'Flows by kind and state; those that ended, as long as Temporal retains them.', [
    'kind',
    'state',
  ]);
  const inFlight = gauge(
    'towline_value_in_flight',
    'What is in flows that have not ended, by currency or token, half a minute ago. For dashboards: a float, and no ledger.',
    ['currency'],
  );
  const withoutAmount = gauge(
    'towline_flows_of_unknown_value',
    'Open flows whose amount the gateway does not know, since another client started them.',
  );
  const parked = gauge('towline_flows_parked', 'Flows that wait for a person, by reason.', ['reason']);
  const parkedFor = gauge(
    'towline_flows_parked_started_before',
    'Flows that wait for a person and started longer ago than `age`.',
    ['age'],
  );
  const overdue = gauge(
    'towline_flows_overdue',
    'Open flows, running or parked, past the deadline that flows of their kind have by default.',
  );
  const undelivered = gauge(
    'towline_callbacks_undelivered',
    'Flows with a callback that could not be delivered in three days: `towline callbacks` lists them.',
  );
  const countedAt = gauge(
    'towline_flows_counted_timestamp_seconds',
    'When the flows were last counted. Alert if it stands still: Temporal cannot be asked.',
  );

  const storeUp = gauge(
    'towline_store_up',
    '1 if the store answered for this scrape. At 0 the figures of events are the last ones known.',
  );

  const sending = gauge(
    'towline_claims_sending',
    'Claims in sending without a decision of a person: POSTs under way, and those of unknown outcome.',
  );
  const oldestSending = gauge('towline_claims_sending_oldest_seconds', 'Age of the oldest of them; 0 without any.');
  const oldestWaiting = gauge(
    'towline_events_oldest_waiting_seconds',
    'Age of the oldest proven event that waits for a flow which has sent money; 0 without any.',
  );
  const leased = gauge('towline_flows_leased', 'Flows whose events are being delivered by one of the gateways.');
  const unprovenBytes = gauge('towline_events_unproven_bytes', 'What events without proof take of the store.');
  const unprovenMost = gauge('towline_events_unproven_limit_bytes', 'What they may take: UNPROVEN_DISK_MB.');
  const ageSeconds = (nowMs: number, sinceMs: number | undefined) =>
    sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1_000;

  function showCounts(counts: InboxCounts): void {
    for (const [state, count] of Object.entries(counts.byState)) events.set({ state }, count);
    settled.reset();
    for (const [state, count] of Object.entries(counts.settled)) settled.inc({ state }, count);
    dropped.reset();
    dropped.inc(counts.dropped);
  }

  function showFigures(found: StoreFigures): void {
    sending.set(found.sending);
    oldestSending.set(ageSeconds(found.nowMs, found.oldestSendingMs));
    oldestWaiting.set(ageSeconds(found.nowMs, found.oldestWaitingMs));
    leased.set(found.leasedFlows);
  }

  function show(stats: FlowStats): void {
    for (const { kind, state, count } of stats.flows) flows.set({ kind, state }, count);
    inFlight.reset();
    for (const [currency, amount] of Object.entries(stats.inFlight))
      inFlight.inc({ currency: labelOf(currency) }, Number(amount));
    withoutAmount.set(stats.withoutAmount);
    parked.reset();
    for (const [reason, count] of Object.entries(stats.parked)) parked.set({ reason }, count);
    for (const [age, count] of Object.entries(stats.parkedFor)) parkedFor.set({ age }, count);
    contradicted.set(stats.contradicted);
    overdue.set(stats.overdue);
    undelivered.set(stats.undelivered);
    countedAt.set(stats.countedAtMs / 1_000);
  }

  return {
    answered: ({ seconds, method, route, status }) => requests.observe({ method, route, status }, seconds),
    acknowledged: (source, result, seconds) => acknowledgements.observe({ source, result }, seconds),
    dispatched: (lagSeconds) => lagSeconds.forEach((seconds) => lag.observe(seconds)),
    async print() {
      // A scrape must report an outage, and not fall to it.
      const [counts, found, stats] = await Promise.all([
        inbox.counts().catch(() => undefined),
        figures().catch(() => undefined),
        flowStats(),
      ]);
      storeUp.set(counts === undefined ? 0 : 1);
      if (counts !== undefined) showCounts(counts);
      if (found !== undefined) showFigures(found);
      unprovenBytes.set(quota.bytes());
      unprovenMost.set(quota.mostBytes);
      unreadable.set(unreadableFlows());
      if (stats !== undefined) show(stats);
      return { type: register.contentType, text: `${await register.metrics()}${(await besides?.metrics()) ?? ''}` };
    },
  };
}

/** `GET /metrics`, for Prometheus; with a token, since it shows how much money is in flight. */
export function addMetricsRoute(server: FastifyInstance, { print }: { readonly print: Metrics['print'] }) {
  server.get('/metrics', { config: { permission: 'read-metrics' } }, async (_request, reply) => {
    const { type, text } = await print();
    return reply.header('content-type', type).send(text);
  });
}

/** Every answer of the server is counted, by the pattern of its route. */
export function countRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', (request, reply, next) => {
    const route = request.routeOptions.url ?? '(unknown)';
    metrics.answered({ method: request.method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1_000 });
    next();
  });
}

const KNOWN: ReadonlySet<string> = new Set([...FIAT_CURRENCIES, ...TOKENS]);

/** A caller's own word is no label: each makes a series of its own, for ever. */
function labelOf(currency: string): string {
  const code = readCode(currency);
  return code !== undefined && KNOWN.has(code) ? code : 'other';
}
