import { every, systemClock, type Clock } from '../../clock.js';
import type { InboxRow } from '../../protocol/events.js';
import type { InboxStore } from '../../store/inbox.js';
import type { MatterStore } from '../../store/matters.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { errorForLog } from '../http/refusal.js';
import { untilNextLook, type OpenSignals } from './open-signals.js';
import { eventResultsOf, markLate, type DeliverDeps } from './deliver-batch.js';
import type { Drain } from './drain.js';
import type { Duty } from '../../store/duties.js';

export interface Settler {
  start(): void;
  /** A person's order may have changed the state of this flow's events: checks them soon. */
  checkSoon(flowId: string): void;
  stop(): Promise<void>;
}

export interface SettlerDeps extends SettleDeps {
  /** Whether this gateway holds the duty to ask, and not another one. */
  readonly duty: Pick<Duty, 'isOurs'>;
  readonly drain: Drain;
  /** @default 1000 */
  readonly everyMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock;
  /** A row is due for a query when it was delivered this long ago. @default 2000 */
  readonly ageMs?: number | undefined;
}

/** Queries per round (a second): few, unless a backlog built up. */
const FEWEST = 5;
const MOST = 25;
const BACKLOG_SHARE = 0.1;
const FLOWS_LISTED = 250;

/** Asks flows for the state of their events. Deliberately slow: nothing waits for it, and each query costs a worker. */
export function createSettler(deps: SettlerDeps): Settler {
  const { inbox, logger } = deps;
  /**
   * Flows that could not answer yet, with the time to ask again. Otherwise they would keep the others from being asked.
   */
  const patience = new Map<string, { looks: number; dueAt: number }>();
  const soon = new Set<string>();
  let running: Promise<void> | undefined;
  let stopTicking: (() => void) | undefined;
  const stop = { asked: false };

  async function round(): Promise<void> {
    for (const flowId of soon) {
      soon.delete(flowId);
      await look(flowId, []);
    }
    if (!(await deps.duty.isOurs())) return;
    const listed = await inbox.unsettledFlows({ limit: FLOWS_LISTED + patience.size, ageMs: deps.ageMs ?? 2_000 });
    const open = new Set(listed.map(({ flowId }) => flowId));
    for (const flowId of patience.keys()) if (!open.has(flowId)) patience.delete(flowId);
    const due = listed.filter(({ flowId }) => (patience.get(flowId)?.dueAt ?? 0) <= deps.nowMs());
    const questions = Math.min(MOST, Math.max(FEWEST, Math.ceil(due.length * BACKLOG_SHARE)));
    for (const { flowId, ids } of due.slice(0, questions)) {
      if (stop.asked) return;
      await look(flowId, ids);
    }
  }

  async function look(flowId: string, ids: readonly string[]): Promise<void> {
    const looks = (patience.get(flowId)?.looks ?? 0) + 1;
    // Set before the attempt: if it fails, and so ends the round, this flow is not the first one of the next round.
    patience.set(flowId, { looks, dueAt: deps.nowMs() + untilNextLook(looks) });
    if (await settleFlow(deps, flowId, ids)) patience.delete(flowId);
  }

  const tick = (): void => {
    running ??= deps.drain
      .within(round)
      .catch((error: unknown) => logger.warn({ error: errorForLog(error) }, 'events cannot be settled; trying again'))
      .finally(() => {
        running = undefined;
      });
  };

  return {
    start() {
      stopTicking = every(deps.clock ?? systemClock, deps.everyMs ?? 1_000, tick);
    },
    checkSoon: (flowId) => void soon.add(flowId),
    async stop() {
      stop.asked = true;
      stopTicking?.();
      await deps.drain.finish(running);
    },
  };
}

interface SettleDeps {
  readonly inbox: InboxStore;
  /** Gets a matter for what people must know at once. */
  readonly matters: Pick<MatterStore, 'open'>;
  readonly reader: Pick<FlowReader, 'facts' | 'report'>;
  readonly openSignals: OpenSignals;
  readonly logger: DeliverDeps['logger'];
  readonly tellCaller?: DeliverDeps['tellCaller'];
  readonly nowMs: () => number;
}

/** After this time, a closed flow whose result cannot be read will never name an event. */
const UNKNOWN_FOR_MS = 60_000;
const RISEN_AT_ONCE = 100;

/**
 * Settles the rows of one flow by the flow's report about its events. Returns whether all of `ids` are settled. Rows
 * that were settled as unverified are checked again: a person may have vouched for them since.
 */
async function settleFlow(deps: SettleDeps, flowId: string, ids: readonly string[]): Promise<boolean> {
  // Read first: a report that a flow gave after it was seen closed is final.
  const facts = await deps.reader.facts(flowId);
  const report = facts && (await deps.reader.report(flowId));
  const unverified = await deps.inbox.list({ flowId, state: 'unverified', limit: RISEN_AT_ONCE, bodies: false });
  const verdicts =
    report === undefined ? [] : eventResultsOf(report, new Set([...ids, ...unverified.map(({ id }) => id)]));
  if (verdicts.length > 0) await deps.inbox.settle(verdicts);

  const settled = new Set(verdicts.map(({ id }) => id));
  const unknown = ids.filter((id) => !settled.has(id));
  if (unknown.length < ids.length) deps.openSignals.taken(flowId);
  if (unknown.length === 0) return true;
  if (facts?.isOpen === true) return false;
  const rows = (await Promise.all(unknown.map((id) => deps.inbox.get(id)))).filter((row) => row !== undefined);
  const isOld = (row: InboxRow) => deps.nowMs() - Date.parse(row.deliveredAt ?? row.receivedAt) > UNKNOWN_FOR_MS;
  const old = report === undefined ? rows.filter(isOld) : rows;
  if (facts !== undefined) await markLate(deps, old, facts);
  else {
    const detail = 'The flow is gone from Temporal, and did not report how this event ended.';
    await deps.inbox.settle(old.map(({ id }) => ({ id, state: 'late' as const, detail })));
  }
  return old.length === unknown.length;
}
