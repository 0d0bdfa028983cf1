import { every, systemClock, type Clock } from '../../clock.js';
import { errorForLog } from '../http/error-for-log.js';
import type { Drain } from './drain.js';
import { untilNextLook } from './delays.js';
import { settleFlow, type SettleDeps } from './settle-flow.js';

export interface Settler {
  start(): void;
  /** A person's order may have changed what became of this flow's events: looked at soon. */
  lookAt(flowId: string): void;
  stop(): Promise<void>;
}

export interface SettlerDeps extends SettleDeps {
  readonly drain: Drain;
  /** @default 1000 */
  readonly everyMs?: number;
  /** @default the system's */
  readonly clock?: Clock;
  /** A row is asked about when it was delivered this long ago. @default 2000 */
  readonly ageMs?: number;
}

/** Queries per round (a second): few, unless a backlog built up. */
const FEWEST = 5;
const MOST = 25;
const BACKLOG_SHARE = 0.1;
const FLOWS_LISTED = 250;

/** Asks flows what became of their events. Slow on purpose: nobody waits for it, and each question costs a worker. */
export function createSettler(deps: SettlerDeps): Settler {
  const { inbox, logger } = deps;
  /** Flows that could not say yet, with when to ask again. Without it they would keep the others from being asked. */
  const patience = new Map<string, { looks: number; dueAt: number }>();
  const soon = new Set<string>();
  let running: Promise<void> | undefined;
  let stopTicking: (() => void) | undefined;
  const stop = { asked: false };

  async function round(): Promise<void> {
    const listed = await inbox.unsettledFlows({ limit: FLOWS_LISTED + patience.size, ageMs: deps.ageMs ?? 2_000 });
    const open = new Set(listed.map(({ flowId }) => flowId));
    for (const flowId of patience.keys()) if (!open.has(flowId)) patience.delete(flowId);
    for (const flowId of soon) await look(flowId, []);
    soon.clear();
    const due = listed.filter(({ flowId }) => (patience.get(flowId)?.dueAt ?? 0) <= deps.nowMs());
    const questions = Math.min(MOST, Math.max(FEWEST, Math.ceil(due.length * BACKLOG_SHARE)));
    for (const { flowId, ids } of due.slice(0, questions)) {
      if (stop.asked) return;
      await look(flowId, ids);
    }
  }

  async function look(flowId: string, ids: readonly string[]): Promise<void> {
    if (await settleFlow(deps, flowId, ids)) return void patience.delete(flowId);
    const looks = (patience.get(flowId)?.looks ?? 0) + 1;
    patience.set(flowId, { looks, dueAt: deps.nowMs() + untilNextLook(looks) });
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
    lookAt: (flowId) => void soon.add(flowId),
    async stop() {
      stop.asked = true;
      stopTicking?.();
      await deps.drain.finish(running);
    },
  };
}
