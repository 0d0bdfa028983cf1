import type { Chance } from '../core/chance.js';

/** How likely each kind of fault is in one run; drawn from its seed, so that runs differ in what they are full of. */
export interface Weather {
  /** After this time nothing goes wrong any more: by then every flow has to come to an end or to a person. */
  readonly clearsAfterMs: number;
  /** Of each write and read of the store: fails before it was done, or although it was. */
  readonly storeFails: number;
  /** Of each call of a worker or gateway: the process dies just before or just after it. */
  readonly crash: number;
  /** Of each request to the service. */
  readonly requestFails: number;
  /** For each request to the service: its answer takes longer than any client waits for it. */
  readonly requestLate: number;
  /** Of each finished activity: its completion is lost, late or doubled. */
  readonly completion: number;
  readonly heartbeatLost: number;
  /** Of each call to Temporal. */
  readonly temporalFails: number;
  /** Of each delivery of the service. */
  readonly delivery: number;
  readonly forgery: boolean;
  /** Processes that are stopped for a while, and wall clocks that jump. */
  readonly stops: boolean;
  /** A process that is stopped for longer than a settle window finds its flow decided. */
  readonly longestStopMs: number;
  /** Of each request to the service: its process is stopped until long after the answer is there. */
  readonly stopsWaiting: number;
  readonly clocks: boolean;
  /** In Temporal's UI: a person resets flows to an earlier moment, or terminates them. */
  readonly resets: boolean;
  readonly terminations: boolean;
  /** The store is put back to an earlier moment, and its epoch raised. */
  readonly restores: boolean;
  /** How late a delivery may come, ms: after five minutes its signature is too old. */
  readonly latestDeliveryMs: number;
  /** From the first moment to the last, every status lookup is refused. */
  readonly lookupsRefused: boolean;
  /** Of each money POST: a proxy on the way hands it over twice, and the second answer comes back. */
  readonly repeatedOnTheWay: number;
  /** Of each money POST: any answer comes back to it, by the service or by something on the way. */
  readonly answersOddly: number;
  /** The answers to bridge deposits announce refunds of far more than comes in. */
  readonly oddRefunds: boolean;
  /** A FAILED of a bridge transfer says neither its stage, nor anything of a refund or of what came in. */
  readonly bareFailures: boolean;
}

const RATES = [0, 0, 0.01, 0.03, 0.08];
const CRASHES = [0, 0, 0.002, 0.006, 0.015];

/** @param acts, quirks and odds: for what was added later, so that a seed still draws the rest as it did */
export function drawWeather(chance: Chance, acts: Chance, quirks: Chance, odds: Chance): Weather {
  const rate = () => chance.one(RATES);
  return {
    clearsAfterMs: chance.int(60_000, 100 * 60_000),
    storeFails: chance.one([0, 0, 0.005, 0.02, 0.05]),
    crash: chance.one(CRASHES),
    requestFails: chance.one([0, 0.05, 0.15, 0.35]),
    requestLate: chance.one([0, 0.02, 0.1]),
    completion: rate(),
    heartbeatLost: chance.one([0, 0, 0.1, 0.5]),
    temporalFails: rate(),
    delivery: chance.one([0, 0.1, 0.3, 0.6]),
    forgery: chance.yes(0.4),
    stops: chance.yes(0.3),
    clocks: chance.yes(0.3),
    resets: chance.yes(0.25),
    terminations: acts.yes(0.15),
    restores: acts.yes(0.12),
    longestStopMs: acts.one([90_000, 90_000, 90_000, 1_200_000]),
    stopsWaiting: acts.one([0, 0, 0, 0.05]),
    latestDeliveryMs: chance.one([120_000, 120_000, 600_000]),
    lookupsRefused: chance.yes(0.06),
    repeatedOnTheWay: quirks.one([0, 0, 0, 0.2]),
    answersOddly: odds.one([0, 0, 0.4, 0.9]),
    oddRefunds: quirks.yes(0.1),
    bareFailures: quirks.yes(0.2),
  };
}

/** A run without faults: it must park nothing. */
export const CALM: Weather = {
  clearsAfterMs: 0,
  storeFails: 0,
  crash: 0,
  requestFails: 0,
  requestLate: 0,
  completion: 0,
  heartbeatLost: 0,
  temporalFails: 0,
  delivery: 0,
  forgery: false,
  stops: false,
  longestStopMs: 0,
  stopsWaiting: 0,
  clocks: false,
  resets: false,
  terminations: false,
  restores: false,
  latestDeliveryMs: 0,
  lookupsRefused: false,
  repeatedOnTheWay: 0,
  answersOddly: 0,
  oddRefunds: false,
  bareFailures: false,
};
