import { pino } from 'pino';
import { deliverBatch, type DeliverDeps } from '../../../src/gateway/dispatch/deliver-batch.js';
import { createOpenSignals } from '../../../src/gateway/dispatch/open-signals.js';
import { createUnreadableFlows } from '../../../src/gateway/dispatch/unreadable-flows.js';
import type { FlowReport } from '../../../src/api/flow.js';
import type { FlowEvent } from '../../../src/protocol/messages.js';
import type { InboxRow, ReceivedEvent } from '../../../src/protocol/events.js';
import type { Store } from '../../../src/store/store.js';
import type { SignalOutcome } from '../../../src/temporal/start-flow.js';
import type { FlowFacts } from '../../../src/temporal/flow-handle.js';
import { anEvent, type TemporaryStore } from '../../store/temporary-store.js';

export const FLOW = 'bridge-transfer/r1';
export const MINUTE_MS = 60_000;

/** An open flow that has taken all its signals. */
export const OPEN: Partial<FlowFacts> = { isOpen: true, hasPendingTask: false, status: 'RUNNING', state: 'running' };

interface Changes {
  readonly flowId?: string;
  readonly deferrals?: number;
  readonly rows?: readonly InboxRow[];
  readonly nowMs?: () => number;
}

/** Deliveries of one batch at a time, from a real store, to a flow which is as the test says. */
export async function delivering(temporary: TemporaryStore) {
  const store: Store = await temporary.open();
  const signals: { readonly flowId: string; readonly events: readonly FlowEvent[] }[] = [];
  const lags: number[] = [];
  const log: Record<string, unknown>[] = [];
  const flow = {
    /** What Temporal says, in turn; the last one again and again. Undefined: there is no such flow. */
    facts: [OPEN] as (Partial<FlowFacts> | undefined)[],
    report: undefined as Pick<FlowReport, 'events'> | undefined,
    outcome: 'delivered' as SignalOutcome,
  };
  const asked: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const openSignals = createOpenSignals();
  const deps: DeliverDeps = {
    inbox: store.inbox,
    matters: store.matters,
    reader: {
      facts: (flowId) => {
        asked.push('facts');
        const [next] = flow.facts.length > 1 ? flow.facts.splice(0, 1) : flow.facts;
        return Promise.resolve(next === undefined ? undefined : ({ flowId, ...next } as FlowFacts));
      },
      report: () => {
        asked.push('report');
        return Promise.resolve(flow.report as FlowReport | undefined);
      },
    },
    openSignals,
    unreadable: createUnreadableFlows(logger, temporary.clock.now),
    signal: (flowId, events) => {
      asked.push('signal');
      signals.push({ flowId, events });
      return Promise.resolve(flow.outcome);
    },
    logger,
    nowMs: temporary.clock.now,
    dispatched: (seconds) => lags.push(...seconds),
  };

  /** The flow's waiting rows, leased. */
  const leased = async (flowId = FLOW) => {
    const batches = await store.inbox.lease({ proven: 9, unproven: 9, perFlow: 50, leaseMs: 10_000 });
    return batches.find((batch) => batch.flowId === flowId);
  };
  return {
    store,
    deps,
    flow,
    asked,
    signals,
    lags,
    log,
    openSignals,
    leased,
    /** Stores an event. @returns its id */
    came: async (members: Partial<ReceivedEvent> = {}): Promise<string> =>
      (await store.inbox.receive(anEvent({ flowId: FLOW, ...members }))).id,
    /** What becomes of all that waits. */
    deliver: async ({ nowMs = deps.nowMs, ...changes }: Changes = {}) => {
      const batch = await leased();
      if (batch === undefined) throw new Error('no event is due');
      return deliverBatch({ ...deps, nowMs }, { ...batch, ...changes });
    },
    states: async (...ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await store.inbox.get(id))?.state ?? 'gone')),
    alarms: () => log.flatMap(({ alarm, event }) => (alarm === undefined ? [] : [{ alarm, event }])),
    matters: async () =>
      (await store.matters.due(100)).matters.map(({ content: { kind, flowId, eventId } }) => ({
        kind,
        flowId,
        eventId,
      })),
  };
}

export type Delivering = Awaited<ReturnType<typeof delivering>>;
