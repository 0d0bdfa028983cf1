import { REPEAT_MODES, type RepeatMode } from '../../src/sandbox/settings.js';
import type { Violation } from './invariants/violation.js';
import { createBook } from './invariants/book.js';
import { createMonitors } from './invariants/monitors.js';
import { restViolations } from './invariants/at-rest.js';
import { safetyViolations, violation, type Ended } from './invariants/safety.js';
import { startDriver, type Driver } from './driver/driver.js';
import { startCustomers } from './driver/customers.js';
import { startForger } from './driver/forger.js';
import { startOperators } from './driver/operators.js';
import { closingView, startPersons, waitsForPerson } from './driver/persons.js';
import { isOpen, type Run } from './temporal/run.js';
import type { WorkflowVms } from './temporal/vm.js';
import { CALM, drawWeather, type Weather } from './world/weather.js';
import { inboxRows } from './world/store-port.js';
import { createWorld, STARTS_AT_MS, type Plant, type World } from './world/world.js';

export interface SimOptions {
  readonly seed: number;
  readonly vms: WorkflowVms;
  readonly kind?: string | undefined;
  /** How the service ends each flow, in place of what the seed would draw. */
  readonly ending?: string | undefined;
  readonly plant?: Plant | undefined;
  /** In place of what the seed would draw. */
  readonly weather?: Partial<Weather> | undefined;
  readonly repeatMode?: RepeatMode | undefined;
  /** SERVICE_PROFILE=live, and a service that is so. @default false */
  readonly isLive?: boolean | undefined;
  /** Persons order anything that is legal. */
  readonly careless?: boolean | undefined;
  readonly live?: ((line: string) => void) | undefined;
}

export interface SimResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly lines: readonly string[];
  readonly faults: ReadonlyMap<string, number>;
  /** `{kind} {state}` of each flow. */
  readonly endings: readonly string[];
  /** Flows that asked a person at least once. */
  readonly parked: number;
  readonly steps: number;
  readonly runs: readonly Run[];
}

/** Above the longest deadline, begun anew by a reset, and as much again for each order to keep waiting. */
const HORIZON_MS = 24 * 3_600_000;
/** What is left open in the inbox is settled by then. */
const SETTLE_MS = 10 * 60_000;
/**
 * Counted from the deadline, or from the last fault: a flow checks the status once more, and its settle window may
 * begin there.
 */
const PAST_DEADLINE_MS = 30 * 60_000;
const CALM_EVERY = 12;
/** Events on their way: a wall clock that was wrong may have put them off by an hour. */
const OPEN_ROWS = `SELECT id FROM inbox WHERE flow_id IS NOT NULL AND state IN ('waiting', 'delivered') LIMIT 1`;
const LOOK_EVERY_MS = 30_000;

/** One run: everything that happens in it is decided by its seed. */
export async function simulate(options: SimOptions): Promise<SimResult> {
  const isCalm = options.seed % CALM_EVERY === 0 && options.weather === undefined;
  const world = await createWorld({
    seed: options.seed,
    vms: options.vms,
    weather: (...chances) => (isCalm ? CALM : { ...drawWeather(...chances), ...options.weather }),
    repeatMode: (chance) => options.repeatMode ?? chance.one(REPEAT_MODES),
    plant: options.plant,
    isLive: options.isLive,
    live: options.live,
  });
  try {
    return await play(world, options, isCalm);
  } finally {
    await world.dispose();
    await quiet(world);
  }
}

async function play(world: World, { seed, kind, ending, careless }: SimOptions, isCalm: boolean): Promise<SimResult> {
  const { timeline, trace, temporal, sandbox, chance } = world;
  const book = createBook(sandbox);
  const ended: Ended[] = [];
  let hasChanged = true;
  world.paymentStateOf = (flow) => {
    const state = book.paymentStateOf(flow);
    // An invoice that was made and not paid has no payment, and must not be made again.
    const isBegun = book.executions().some(({ reference }) => reference === flow?.reference);
    return state === 'none' && isBegun ? 'begun' : state;
  };
  world.onClosed((run) => {
    const view = closingView(run);
    if (run.type === 'callbackDelivery' || run.status === 'CONTINUED_AS_NEW' || run.status === 'TERMINATED') return;
    const state = view?.state ?? (run.status === 'CANCELLED' ? 'cancelled' : 'failed');
    ended.push({ flowId: run.workflowId, atMs: timeline.nowMs, state, reason: view?.outcome?.reason ?? null });
    hasChanged = true;
  });
  trace.add('sim', `seed ${seed}`, `repeat mode ${world.repeatMode}, ${shownWeather(world)}`);
  const driver = await startDriver(world, { kind, ending });
  const isCareless = chance.yes(0.3);
  const persons = startPersons(world, driver.journal, {
    careless: careless ?? isCareless,
    resolved(end) {
      ended.push(end);
      hasChanged = true;
    },
  });
  startForger(world, driver.journal);
  startCustomers(world, driver.journal);
  startOperators(world, driver.journal);
  const monitors = createMonitors(world.database, world.recorded);
  const facts = { book, journal: driver.journal, wire: world.wire, ended };

  const violations: Violation[] = [];
  const parked = new Set<string>();
  let steps = 0;
  let writes = -1;
  let restores = 0;
  let nextLookMs = 0;
  let restingSinceMs: number | undefined;
  while (violations.length === 0) {
    const work = timeline.next(STARTS_AT_MS + HORIZON_MS);
    if (work === undefined) break;
    steps += 1;
    await work();
    await quiet(world);
    for (const { attribute, workflowId } of temporal.runs) if (attribute === 'parked') parked.add(workflowId);
    // Only the service's commits and the end of a flow change these results.
    if (sandbox.writes !== writes || hasChanged) violations.push(...safetyViolations(facts));
    if (world.lost.length > restores) monitors.forget();
    restores = world.lost.length;
    violations.push(...monitors.check());
    ({ writes } = sandbox);
    hasChanged = false;
    if (timeline.nowMs < nextLookMs) continue;
    nextLookMs = timeline.nowMs + LOOK_EVERY_MS;
    violations.push(...overdue(world, driver));
    if (!isAtRest(world, driver, persons)) restingSinceMs = undefined;
    else restingSinceMs ??= timeline.nowMs;
    if (restingSinceMs !== undefined && timeline.nowMs - restingSinceMs > SETTLE_MS) break;
  }
  if (violations.length === 0) violations.push(...restViolations({ ...facts, ...(await restOf(world)), isCalm }));
  for (const found of violations) trace.add('sim', `VIOLATION ${found.invariant}`, found.what);
  return {
    seed,
    violations,
    lines: trace.lines,
    faults: trace.faults,
    endings: driver.journal.flows.map((flow) => `${flow.kind} ${stateOf(world, ended, flow.flowId)}`),
    parked: parked.size,
    steps,
    runs: temporal.runs,
  };
}

/** Until nothing moves any more without time. */
async function quiet({ timeline }: World): Promise<void> {
  for (let still = 0; still < 2;) {
    const before = timeline.activity;
    await new Promise(setImmediate);
    still = timeline.activity === before ? still + 1 : 0;
  }
}

/** I14: no flow runs on past its deadline: it has ended, or it waits for a person. */
function overdue({ temporal, timeline, weather }: World, { journal }: Driver): readonly Violation[] {
  return journal.flows.flatMap(({ flowId, deadlineMs }) => {
    const run = temporal.current(flowId);
    if (run === undefined || !isOpen(run) || run.attribute === 'parked') return [];
    const orders = journal.orders.filter((order) => order.flowId === flowId);
    const from = Math.max(run.startedAtMs, ...orders.map(({ atMs }) => atMs)) + deadlineMs;
    const lateMs = timeline.nowMs - Math.max(from, STARTS_AT_MS + weather.clearsAfterMs);
    if (lateMs < PAST_DEADLINE_MS) return [];
    return [violation('I14', `${flowId} runs past its deadline`, 'ended or parked', `${Math.round(lateMs / 60_000)} min late`)]; // prettier-ignore
  });
}

function isAtRest({ temporal, database }: World, driver: Driver, persons: ReturnType<typeof startPersons>): boolean {
  if (!driver.isDone() || database.all(OPEN_ROWS).length > 0) return false;
  return temporal.runs.every((run) => (waitsForPerson(temporal, run) ? persons.isDone(run.workflowId) : !isOpen(run)));
}

async function restOf(world: World) {
  const { temporal, database, wire, deliveries, lost } = world;
  const open = new Map(
    temporal.runs
      .filter((run) => isOpen(run) || waitsForPerson(temporal, run))
      .map((run) => [run.workflowId, waitsForPerson(temporal, run) ? 'parked' : 'running'] as const),
  );
  return { open, rows: await inboxRows(database), wire, deliveries: deliveries.journal, lost };
}

function stateOf({ temporal }: World, ended: readonly Ended[], flowId: string): string {
  const run = temporal.current(flowId);
  const isParked = run?.attribute === 'parked' || run?.status === 'TERMINATED';
  return ended.findLast((one) => one.flowId === flowId)?.state ?? (isParked ? 'parked' : 'running');
}

function shownWeather({ weather }: World): string {
  const shown = Object.entries(weather).filter(([, value]) => value !== 0 && value !== false);
  return shown.length === 0 ? 'calm' : shown.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}
