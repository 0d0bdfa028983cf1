import { createActivities, createCallbackActivities, ofQueue, type ActivityDeps } from '../../../activities/index.js';
import { LIVE_OPERATIONS } from '../../../src/protocol/live-operations.js';
import { QUEUES, taskQueueOf } from '../../../src/protocol/task-queues.js';
import { createServiceClient } from '../../../src/service-client/index.js';
import { StoreUnavailableError } from '../../../src/store/store-errors.js';
import type { RepeatMode } from '../../../src/sandbox/settings.js';
import type { StartedByDriver } from '../driver/driver.js';
import { createChance, type Chance } from '../core/chance.js';
import { call, createProcess, type CallFault, type Process } from '../core/process.js';
import { createTimeline, type Timeline } from '../core/timeline.js';
import { createTrace, type Trace } from '../core/trace.js';
import { createSimClient, unavailable } from '../temporal/client.js';
import type { Run } from '../temporal/run.js';
import { createTemporalServer, MAIN_QUEUE } from '../temporal/server.js';
import type { TemporalServer } from '../temporal/temporal-server.js';
import type { WorkflowVms } from '../temporal/vm.js';
import { createDeliveries, type Deliveries } from './deliveries.js';
import { ACCOUNT, createSimGateway, SERVICE_TIMEOUT_MS, type SimGateway } from './gateway.js';
import { openMemoryDatabase, type MemoryDatabase, type StoreCopy } from './memory-database.js';
import { GATEWAY_URL, takeSandbox, TOKEN, type SimSandbox } from './sandbox.js';
import { createOddLookups } from './odd-answers.js';
import { createSend, type WireEntry } from './service-port.js';
import { openSimStore, prepareDatabase, raiseEpoch } from './store-port.js';
import { CALM, type Weather } from './weather.js';

/** A bug that is planted by passing another dependency in, never by a switch in the product. */
export interface Plant {
  readonly deps: (deps: ActivityDeps) => ActivityDeps;
}

export interface WorldOptions {
  readonly seed: number;
  readonly vms: WorkflowVms;
  readonly weather: (chance: Chance, acts: Chance, quirks: Chance, odds: Chance) => Weather;
  readonly repeatMode: (chance: Chance) => RepeatMode;
  readonly plant?: Plant | undefined;
  /** SERVICE_PROFILE=live, and a service that is so. @default false */
  readonly isLive?: boolean | undefined;
  readonly live?: ((line: string) => void) | undefined;
}

/** Everything of one run: one seed, one virtual time, one service, one store, one Temporal, some processes. */
export interface World {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
  /** A second stream of the seed, for what people do in Temporal's UI and with the store. */
  readonly acts: Chance;
  /** A third one, for what the service, its network and customers do besides. */
  readonly quirks: Chance;
  readonly weather: Weather;
  readonly repeatMode: RepeatMode;
  readonly database: MemoryDatabase;
  readonly sandbox: SimSandbox;
  readonly temporal: TemporalServer;
  readonly deliveries: Deliveries;
  readonly wire: WireEntry[];
  readonly alarms: readonly object[];
  readonly processes: readonly Process[];
  gateways(): readonly SimGateway[];
  /** For an honest person, who asks the service by telephone. */
  paymentStateOf: (flow: StartedByDriver | undefined) => string;
  /** Called whenever a run closes. */
  onClosed(work: (run: Run) => void): void;
  /** Puts the store back as docs/deployment.md orders: with every gateway and worker stopped, and its epoch raised. */
  restoreStore(to: StoreCopy, stoppedForMs: number): void;
  /** `{operation} {reference}` of each answer that was written to its claim. */
  readonly recorded: readonly string[];
  /** The time from a backup to its restore: what came in then is in no store. */
  readonly lost: readonly LostTime[];
  dispose(): Promise<void>;
}

export interface LostTime {
  readonly fromMs: number;
  readonly toMs: number;
}

export const STARTS_AT_MS = Date.UTC(2026, 0, 5, 8);
const ACTS = 0x2545f491;
const QUIRKS = 0x27d4eb2f;
const ODDS = 0x165667b1;
const RECORDS = 'recordAnswer ';

export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, vms, plant, isLive = false } = options;
  const chance = createChance(seed);
  const acts = createChance(seed ^ ACTS);
  const quirks = createChance(seed ^ QUIRKS);
  const odds = createChance(seed ^ ODDS);
  const timeline = createTimeline(STARTS_AT_MS);
  const repeatMode = options.repeatMode(chance);
  const drawn = options.weather(chance, acts, quirks, odds);
  const weather = changing(drawn, () => timeline.nowMs - STARTS_AT_MS < drawn.clearsAfterMs);
  const trace = createTrace(() => timeline.nowMs - STARTS_AT_MS, options.live);
  const database = openMemoryDatabase();
  await prepareDatabase(database);
  const gateways: SimGateway[] = [];
  const processes: Process[] = [];
  const wire: WireEntry[] = [];
  const alarms: object[] = [];
  const closed: ((run: Run) => void)[] = [];
  const lost: LostTime[] = [];
  const recorded: string[] = [];
  const ids = { owner: 0, event: 0 };
  const oddLookups = createOddLookups(() => timeline.nowMs);
  const core = { timeline, trace, chance };

  const deliveries = createDeliveries({ ...core, weather, gateways: () => gateways });
  const sandbox = await takeSandbox(timeline, deliveries.post, {
    repeatMode,
    stepMs: chance.one([300, 1_000, 5_000, 30_000]),
    webhooks: null,
    isLive,
  });
  const temporal = createTemporalServer({
    ...core,
    vms,
    isTaskLost: () => chance.yes(weather.crash),
    completionFault: () => (chance.yes(weather.completion) ? chance.one(['lost', 'twice', 'late'] as const) : 'none'),
    isHeartbeatLost: () => chance.yes(weather.heartbeatLost),
    closed: (run) => closed.forEach((work) => work(run)),
  });

  const faultOf = (rate: number): CallFault => {
    if (chance.yes(weather.crash)) return chance.one(['crash-before', 'crash-after'] as const);
    return chance.yes(rate) ? chance.one(['fails-before', 'fails-after'] as const) : 'none';
  };

  const repeatSetting = repeatMode === 'same-result' ? 'same-result' : 'unknown';

  async function partsOf(process: Process) {
    const store = await openSimStore(
      database,
      () => process.clock.nowMs(),
      (label, writes, done) => {
        const work = () => {
          const result = done();
          if (label.startsWith(RECORDS)) recorded.push(label.slice(RECORDS.length));
          return result;
        };
        const fault = faultOf(weather.storeFails);
        // A read that fails is the same whether it was done or not.
        const effect = !writes && fault === 'fails-after' ? 'fails-before' : fault;
        const error = () => new StoreUnavailableError('SIMULATED');
        return call(core, process, { label, fault: effect, work, error, shown: () => '' });
      },
    );
    const client = createSimClient({
      server: temporal,
      ask: (label, work) => call(core, process, { label, fault: faultOf(weather.temporalFails), work, error: unavailable, shown: () => '' }), // prettier-ignore
      after: (ms, work) => process.clock.after(ms, work),
    });
    const send = createSend(
      {
        ...core,
        acts,
        quirks,
        odds,
        oddLookups,
        weather,
        sandbox,
        wire,
        repeatMode,
        timeoutMs: SERVICE_TIMEOUT_MS,
        refusesLookups: drawn.lookupsRefused,
      },
      process,
    );
    const service = createServiceClient({
      baseUrl: 'http://127.0.0.1:1',
      token: () => Promise.resolve(TOKEN),
      nowMs: () => process.clock.nowMs(),
      send,
    });
    const deps: ActivityDeps = {
      service,
      store,
      account: ACCOUNT,
      publicUrl: GATEWAY_URL,
      serviceTimeoutMs: SERVICE_TIMEOUT_MS,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      repeatSettingOf: () => repeatSetting,
      ...(isLive ? { live: LIVE_OPERATIONS } : {}),
      newOwner: () => `owner-${(ids.owner += 1)}`,
      monotonicMs: () => process.clock.monotonicMs(),
      clock: process.clock,
      log: { info() {}, warn() {}, error() {} },
    };
    return { store, client, activities: plant?.deps(deps) ?? deps };
  }

  async function startWorker(name: string): Promise<void> {
    const process = supervised(name, false, startWorker);
    const { client, activities: deps } = await partsOf(process);
    const activities = createActivities(deps) as unknown as Record<string, unknown>;
    const all = { ...activities, ...createCallbackActivities(deps) };
    for (const queue of QUEUES) {
      const on = taskQueueOf(MAIN_QUEUE, queue);
      temporal.addWorker({ process, queue: on, activities: ofQueue(all, queue), client });
    }
  }

  async function startGateway(name: string): Promise<void> {
    const process = supervised(name, true, startGateway);
    const { store, client, activities } = await partsOf(process);
    const gateway = createSimGateway({
      process,
      client,
      store,
      temporal,
      activities,
      newEventId: () => `evt_${String((ids.event += 1)).padStart(5, '0')}`,
      alarm: (detail) => {
        alarms.push(detail);
        trace.add(name, 'ALARM', JSON.stringify(detail));
      },
    });
    await gateway.server.ready();
    gateways.push(gateway);
  }

  /** Nothing is started while the store is put back. */
  let downUntilMs = 0;
  const begin = (name: string, again: (name: string) => Promise<void>): unknown =>
    timeline.nowMs < downUntilMs ? timeline.at(downUntilMs, () => begin(name, again)) : again(name);

  /** A process that is started again some seconds after it died. */
  function supervised(name: string, isDaemon: boolean, again: (name: string) => Promise<void>): Process {
    const process = createProcess({ name, timeline, trace, isDaemon });
    processes.push(process);
    process.whenDead(() => {
      trace.fault(`crash of a ${name.split('-')[0] ?? ''}`);
      const mine = gateways.findIndex((gateway) => gateway.process === process);
      if (mine >= 0) gateways.splice(mine, 1);
      timeline.in(chance.int(200, chance.yes(0.8) ? 5_000 : 120_000), () => begin(name, again));
    });
    if (weather.clocks && chance.yes(0.5)) process.setWallClock(chance.int(-30_000, 30_000));
    return process;
  }

  /** Beside the store, the namespace keeps it: an older backup must not bring an old epoch back. */
  let epoch = 1;

  await startWorker('worker-1');
  await startWorker('worker-2');
  await startGateway('gateway-1');
  await startGateway('gateway-2');
  if (weather.stops || weather.clocks) troubles();

  /** Now and then a process is stopped, or its wall clock is set. */
  function troubles(): void {
    const next = (): void => void timeline.in(chance.int(2_000, 300_000), trouble, true);
    const trouble = (): void => {
      if (!weather.stops && !weather.clocks) return processes.forEach((process) => process.setWallClock(0));
      const alive = processes.filter(({ isAlive }) => isAlive);
      if (alive.length > 0) {
        const process = chance.one(alive);
        if (weather.stops && chance.yes(0.5)) {
          trace.fault('process stopped');
          process.stopFor(chance.int(500, weather.longestStopMs));
        } else if (weather.clocks) {
          trace.fault('wall clock set');
          process.setWallClock(chance.one([-3_600_000, -60_000, 0, 60_000, 3_600_000]));
        }
      }
      next();
    };
    next();
  }

  return {
    timeline,
    trace,
    chance,
    acts,
    quirks,
    weather,
    repeatMode,
    database,
    sandbox,
    temporal,
    deliveries,
    wire,
    alarms,
    processes,
    paymentStateOf: () => 'none',
    gateways: () => gateways.filter(({ process }) => process.isAlive && !process.isStopped),
    onClosed: (work) => void closed.push(work),
    lost,
    recorded,
    restoreStore(to, stoppedForMs) {
      downUntilMs = timeline.nowMs + stoppedForMs;
      for (const process of processes) process.crash('stopped for a restore');
      timeline.in(Math.floor(stoppedForMs / 2), async () => {
        database.restore(to);
        epoch = await raiseEpoch(database, epoch, timeline.nowMs);
        lost.push({ fromMs: to.atMs, toMs: timeline.nowMs });
        trace.fault('store restored');
        trace.add('operator', 'restores the store', `as it was ${Math.round((timeline.nowMs - to.atMs) / 1_000)} s ago, epoch ${epoch}`);
      }); // prettier-ignore
    },
    async dispose() {
      deliveries.end();
      await temporal.dispose();
      database.close();
    },
  };
}

/** As drawn while it lasts, and calm after that. */
function changing(drawn: Weather, lasts: () => boolean): Weather {
  return new Proxy(drawn, {
    get: (_, name: keyof Weather) => (lasts() || name === 'clearsAfterMs' ? drawn[name] : CALM[name]),
  });
}
