import { setHandler, uuid4, workflowInfo } from '@temporalio/workflow';
import { readTime } from '../src/readers/time.js';
import { isPlaintext, isUndecodable, requireKnownKey } from '../src/protocol/plaintext-marker.js';
import type { FlowView } from '../src/api/flow.js';
import { callbacksQuery, changesSignal, resendSignal } from './engine/messages.js';
import { MAX_SIGNALS_PER_RUN, MAX_SKIPPED } from './engine/policies.js';
import type {
  CallbackFailure,
  CallbackOrder,
  CallbackReport,
  CallbackState,
  Delivered,
  FlowChange,
  Notification,
} from '../src/protocol/callbacks.js';

/** What travels through continue-as-new. */
export interface DeliveryCarried {
  readonly state: CallbackState;
  readonly waiting: readonly FlowChange[];
  readonly current: Notification | null;
  readonly delivered: Delivered | null;
  readonly again: boolean;
}

/** The changes to send to one flow's caller, and the state of their delivery. */
export interface Delivery {
  state: CallbackState;
  since: string | null;
  current: Notification | null;
  failure: CallbackFailure | null;
  delivered: Delivered | null;
  /** A newer change came, or a person wants it sent again. */
  hasWork(): boolean;
  /** The next callback: the newest change, which names what it skips; or the same one again, under its own id. */
  next(): Notification | undefined;
  isTooLong(): boolean;
  carry(): DeliveryCarried;
}

export function openDelivery(order: CallbackOrder, carried?: DeliveryCarried): Delivery {
  let waiting: readonly FlowChange[] = carried?.waiting ?? order.changes;
  let again = carried?.again ?? order.again !== undefined;
  let signals = 0;

  const delivery: Delivery = {
    state: carried?.state ?? 'delivered',
    since: null,
    current: carried?.current ?? order.again ?? null,
    failure: null,
    delivered: carried?.delivered ?? null,
    hasWork: () => waiting.length > 0 || again,
    next() {
      const newest = waiting.at(-1);
      const before = delivery.current;
      const same = before ?? (again ? (delivery.delivered?.notification ?? undefined) : undefined);
      again = false;
      if (newest === undefined) return same;
      const skipped = [
        ...(before?.skipped ?? []),
        ...[...(before === null ? [] : [before.change]), ...waiting.slice(0, -1)].map(
          ({ timestamp, state, stage }) => ({ timestamp, state, stage }),
        ),
      ];
      waiting = [];
      return { id: `msg_${uuid4()}`, change: newest, skipped: skipped.slice(-MAX_SKIPPED) };
    },
    isTooLong: () => signals >= MAX_SIGNALS_PER_RUN || workflowInfo().continueAsNewSuggested,
    carry: () => ({ state: delivery.state, waiting, current: delivery.current, delivered: delivery.delivered, again }),
  };

  // Only our own flows and gateways report changes, and they encrypt them.
  setHandler(changesSignal, (argument) => {
    signals += 1;
    requireKnownKey(argument);
    if (Array.isArray(argument)) waiting = [...waiting, ...(argument as readonly FlowChange[])];
  });
  setHandler(resendSignal, (argument) => {
    signals += 1;
    requireKnownKey(argument);
    if (!isPlaintext(argument) && !isUndecodable(argument)) again = true;
  });
  setHandler(callbacksQuery, () => reportOf(delivery, order));
  return delivery;
}

function reportOf(delivery: Delivery, { flowId, url, timeScale }: CallbackOrder): CallbackReport {
  const { state, since, current, failure, delivered } = delivery;
  const last = current ?? delivered?.notification;
  const order = { flowId, url, timeScale, changes: [], ...(last === undefined ? {} : { again: last }) };
  return { state, since, current, failure, delivered, order };
}

/**
 * A change as its caller receives it: an explicit list of members, so that a new member of the view is not sent until
 * it is added here.
 */
export function toChange(view: FlowView, timestamp: string): FlowChange {
  const { kind, reference, flowId, state, stage, serviceReference, outcome, parked } = view;
  return {
    timestamp,
    kind,
    reference,
    flowId,
    state,
    stage,
    serviceReference,
    // Its detail may quote a person or the service.
    outcome: outcome === null ? null : { state: outcome.state, reason: outcome.reason },
    parked: parked === null ? null : { reason: parked.reason, since: parked.since, actions: parked.actions },
  };
}

export function hasChanged(reported: FlowChange, view: FlowView): boolean {
  return JSON.stringify(toChange(view, reported.timestamp)) !== JSON.stringify(reported);
}

/** The present time, or a millisecond past the one before: no two changes of a flow have the same. */
export function timeAfter(before: string, nowMs: number): string {
  return new Date(Math.max(nowMs, (readTime(before) ?? 0) + 1)).toISOString();
}

/** The flow is over: nothing more will come. */
export const isLast = ({ outcome }: FlowChange): boolean => outcome !== null;
