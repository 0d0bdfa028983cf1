import { capacityOf, loadOf, type Station } from './queues.js';

/** What one bridge transfer with five webhooks costs: CPU in milliseconds, counted on one machine by `npm run bench`. */
export interface MeasuredCosts {
  readonly serverMs: number;
  readonly workerMs: number;
  readonly gatewayMsPerWebhook: number;
}

/** Counted in the code and the histories, not timed. */
export const PER_FLOW = {
  events: 33,
  webhooks: 5,
  /** Writes of Temporal's history service: the start, seven workflow tasks and an activity (begun and ended), signals, a timer. */
  transitions: 24,
  /** By the task queues' partitions: the first workflow task and the deposit; the others go to the worker's own queue. */
  queuedTasks: 2,
  /** Of the store: the claim, its answer, and for each webhook its row and its delivery; the results at the end. */
  transactions: 13,
  callbacks: 5,
} as const;

/** Not measured here: replace them by your own. */
export const ASSUMED = {
  /** Postgres on a network, its disk synced. */
  commitMs: 4,
  /** A write of Temporal to its own database, during which its shard waits. */
  shardWriteMs: 5,
  tasksPerPartitionPerSecond: 1_000,
  callbackMs: 200,
  callbackPlacesPerWorker: 100,
  /** History of Temporal, encrypted, until it is archived; rows and indexes of the store. */
  temporalBytesPerFlow: 20_000,
  storeBytesPerFlow: 9_000,
  /** Write-ahead log for each byte of the store. */
  walFactor: 2.5,
} as const;

/** How full a part may be: beyond, waits grow without bound at the first burst. */
const TARGET_LOAD = 0.6;

/** The parts that a flow passes, each with one unit: a core, a shard, a partition, a connection, a worker. */
export function unitsOf(costs: MeasuredCosts): readonly Station[] {
  return [
    { name: 'Temporal, cores', places: 1, serviceMs: costs.serverMs, perFlow: 1 },
    { name: 'Temporal, history shards', places: 1, serviceMs: ASSUMED.shardWriteMs, perFlow: PER_FLOW.transitions },
    {
      name: 'Temporal, task queue partitions',
      places: 1,
      serviceMs: 1_000 / ASSUMED.tasksPerPartitionPerSecond,
      perFlow: PER_FLOW.queuedTasks,
    },
    { name: 'workers, cores', places: 1, serviceMs: costs.workerMs, perFlow: 1 },
    { name: 'gateways, cores', places: 1, serviceMs: costs.gatewayMsPerWebhook, perFlow: PER_FLOW.webhooks },
    { name: 'Postgres, connections in use', places: 1, serviceMs: ASSUMED.commitMs, perFlow: PER_FLOW.transactions },
    {
      name: 'callbacks, workers',
      places: ASSUMED.callbackPlacesPerWorker,
      serviceMs: ASSUMED.callbackMs,
      perFlow: PER_FLOW.callbacks,
    },
  ];
}

/** How many units of a part a rate needs. */
export const unitsFor = (unit: Station, flowsPerSecond: number): number =>
  Math.max(1, Math.ceil(loadOf(unit, flowsPerSecond) / TARGET_LOAD));

/** This many units of it. */
export const scaled = (unit: Station, units: number): Station => ({ ...unit, places: unit.places * units });

/** The part that is full first as the rate grows. */
export function firstFull(stations: readonly Station[]): {
  readonly station: Station;
  readonly flowsPerSecond: number;
} {
  const [first] = stations
    .map((station) => ({ station, flowsPerSecond: capacityOf(station) }))
    .toSorted((a, b) => a.flowsPerSecond - b.flowsPerSecond);
  if (first === undefined) throw new TypeError('no stations');
  return first;
}

const SECONDS_A_DAY = 86_400;

/** Gigabytes a day. */
export const diskOf = (flowsPerSecond: number) => {
  const flows = flowsPerSecond * SECONDS_A_DAY;
  return {
    temporalGb: (flows * ASSUMED.temporalBytesPerFlow) / 1e9,
    storeGb: (flows * ASSUMED.storeBytesPerFlow) / 1e9,
    walGb: (flows * ASSUMED.storeBytesPerFlow * ASSUMED.walFactor) / 1e9,
  };
};
