import { capacityOf, loadOf, type Station } from './queues.js';

/**
 * What one bridge transfer with five webhooks costs, measured on one machine by `npm run bench`: CPU in milliseconds, and
 * bytes on disk.
 */
export interface MeasuredCosts {
  readonly serverMs: number;
  readonly workerMs: number;
  /** Of Temporal's databases and the store together. */
  readonly postgresMs: number;
  readonly gatewayMsPerWebhook: number;
  /** History and visibility, until the namespace's retention is over. */
  readonly temporalBytes: number;
  /** Rows and indexes. */
  readonly storeBytes: number;
  /** Write-ahead log of Temporal's databases and the store together. */
  readonly logBytes: number;
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
    { name: 'Postgres, cores', places: 1, serviceMs: costs.postgresMs, perFlow: 1 },
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

export interface Limit {
  readonly station: Station;
  readonly flowsPerSecond: number;
}

/** The rates at which the parts are full, the lowest first. */
export const limitsOf = (stations: readonly Station[]): readonly Limit[] =>
  stations
    .map((station) => ({ station, flowsPerSecond: capacityOf(station) }))
    .toSorted((a, b) => a.flowsPerSecond - b.flowsPerSecond);

export const SECONDS_A_DAY = 86_400;

/** Gigabytes a day. */
export const diskOf = (costs: MeasuredCosts, flowsPerSecond: number) => {
  const gb = (bytesPerFlow: number) => (flowsPerSecond * SECONDS_A_DAY * bytesPerFlow) / 1e9;
  return { temporalGb: gb(costs.temporalBytes), storeGb: gb(costs.storeBytes), logGb: gb(costs.logBytes) };
};
