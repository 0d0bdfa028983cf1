import { condition, ApplicationFailure, CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import type { UpdateDefinition } from '@temporalio/common';
import type { Cause, CauseCode } from '../../src/protocol/causes.js';
import { endingsOf } from '../../src/protocol/decisions.js';
import { NOT_CLOSED, orderRefusal } from '../../src/protocol/legal-orders.js';
import { wordsThat, type Meaning } from '../../src/protocol/statuses.js';
import type { PersonOrder } from '../../src/protocol/messages.js';
import { PARK_ACTIONS, type ParkAction, type ParkReason, UPDATES } from '../../src/protocol/vocabulary.js';
import { isPlaintext } from '../../src/protocol/plaintext-marker.js';
import { act, wasReset } from './activities.js';
import { pick, type Mismatch } from './event-book.js';
import type { Flow } from './flow.js';
import { FlowEnd } from './flow-end.js';
import { showParked, showUnparked } from './search-attributes.js';
import { MAX_UPDATES_PER_RUN, REMINDER_MS, STORE, STORE_PATIENCE_MS } from './policies.js';
import { observed, within, type Observed } from './waits.js';
import type { Resolution } from './messages.js';
import { provenOf, readInbox } from './inbox.js';

export interface ParkOptions {
  /** Actions of the reason that this flow cannot carry out. */
  readonly without?: readonly ParkAction[];
  /** Asks the service once more, if possible: its answer may make `decided` hold. */
  readonly lookAgain?: () => Promise<void>;
  /** Why an order cannot be carried out by what its step knows at that moment; null: it can. */
  readonly refusalOf?: (order: Resolution) => Cause | null;
}

const STOPPED: Cause = { code: 'flow_stopped', text: 'the flow was stopped at this moment' };
const DECIDED: Cause = { code: 'decided_meanwhile', text: 'what is proven by now decides' };
const CANNOT_READ: Cause = {
  code: 'inbox_not_read',
  text: 'the inbox cannot be read now, or a webhook is still being matched, and may say otherwise: order it again',
};
const ANOTHER_PAYMENT: Cause = {
  code: 'event_reports_other_payment',
  text: 'a trusted event that differs from what we know has come since: look at it, and order again',
};

/** These end nothing and send nothing. */
const HARMLESS: readonly ParkAction[] = ['keep-waiting', 'accept-event', 'dismiss-event', 'report-again'];

/** Final decisions, which close the flow's claims: nothing is sent after them, not even after a reset in the UI. */
const CLOSES_CLAIMS: readonly ParkAction[] = ['mark-completed', 'mark-refunded', 'mark-failed', 'close-without-refund'];

/**
 * Waits for a person, showing the reason, the evidence and the legal actions, and reminds once a day. A late event may
 * decide instead: then `decided` holds, and the answer is `decided`. The same happens if an order is refused: every
 * order that ends or sends something is checked against the inbox and the service when it is carried out. A flow that
 * is stopped meanwhile ends.
 */
export async function park(
  flow: Flow,
  reason: ParkReason,
  evidence: Readonly<Record<string, unknown>>,
  decided: () => boolean = () => false,
  { without = [], lookAgain, refusalOf = () => null }: ParkOptions = {},
): Promise<Resolution | 'decided'> {
  const since = parkedSince(flow);
  const legal: readonly ParkAction[] = PARK_ACTIONS[reason];
  const actions = legal.filter((action) => !without.includes(action));
  const undecided = flow.evidence().mismatches;
  const more = reason === 'event_mismatch' ? {} : shownUndecided(undecided);
  flow.parked = { reason, since, actions, evidence: { ...evidence, ...more } };
  flow.resolution = null;
  showParked({ reason, sinceMs: flow.parkedAtMs });
  flow.note('parked', `parked: ${reason}`);
  const shown = endingsOf(provenOf(flow));
  const settled = () => flow.resolution !== null || flow.stop !== null || decided();
  // It waits for the store for as long as that is unavailable, and the flow does not wait for it.
  let notifying = notify(flow, since, actions);
  while (!(await condition(settled, flow.scaled(REMINDER_MS), REMIND))) remind();
  notifying.cancel();
  const order = flow.resolution as Resolution | null;
  const judged = order === null ? null : await judge(order);
  const why = flow.stop === null ? judged : STOPPED;
  flow.resolution = null;
  flow.parked = null;
  showUnparked();
  void notifyUnparked(flow, since);
  if (order !== null && why !== null) {
    flow.refused = { order, why };
    flow.note('order-refused', `${order.action} refused: ${why.text}`, order.actor);
  }
  if (flow.stop !== null) throw new FlowEnd(flow.stop);
  if (order === null) {
    flow.note('decided-meanwhile', 'a late event decided');
    return 'decided';
  }
  if (why === null) {
    flow.note('order-taken', `${order.action}: ${order.note}`, order.actor);
    return order;
  }
  return 'decided';

  async function judge(asked: Resolution): Promise<Cause | null> {
    const whyNot = () =>
      decided() ? DECIDED : (orderRefusal(asked.action, endingsOf(provenOf(flow)), shown) ?? refusalOf(asked));
    if (HARMLESS.includes(asked.action)) return whyNot();
    if (!(await readInbox(flow))) return CANNOT_READ;
    if (!decided()) await lookAgain?.();
    const isNew = flow.evidence().mismatches.some((mismatch) => !undecided.includes(mismatch));
    const why = whyNot() ?? (isNew ? ANOTHER_PAYMENT : null);
    if (why !== null || !CLOSES_CLAIMS.includes(asked.action)) return why;
    const proven = provenOf(flow);
    const isAgainst = (meaning: Meaning) => orderRefusal(asked.action, endingsOf([...proven, meaning]), shown) !== null;
    // Events that come while the claims are being closed are judged only if they are not closed; else they are late.
    flow.book.hold();
    const open = await closeClaims(flow, asked, wordsThat(isAgainst), remind);
    // A lookup may have been answered while the store was not.
    const refused = open ?? whyNot();
    if (refused !== null) flow.book.release();
    return refused;
  }

  function remind() {
    notifying.cancel();
    notifying = notify(flow, since, actions);
  }
}

/** Trusted events that differ from what we know, and that no person has decided about. */
function shownUndecided(mismatches: readonly Mismatch[]): Readonly<Record<string, unknown>> {
  if (mismatches.length === 0) return {};
  const undecided = mismatches.map(({ event: { id, source, status, facts }, differs }) => {
    return { id, source, status, differs, theirs: pick(facts, differs) };
  });
  return { undecided };
}

/** The same until an order can be carried out, or `decided` holds; the evidence is read again each time. */
export async function askAbout(
  flow: Flow,
  reason: ParkReason,
  evidence: () => Readonly<Record<string, unknown>>,
  decided: () => boolean = () => false,
  options: ParkOptions = {},
): Promise<Resolution | 'decided'> {
  for (;;) {
    const decision = await park(flow, reason, evidence(), decided, options);
    if (decision !== 'decided' || decided()) return decision;
  }
}

/** For decisions that only a person can make. */
export async function askPerson(
  flow: Flow,
  reason: ParkReason,
  evidence: () => Readonly<Record<string, unknown>>,
  options: ParkOptions = {},
): Promise<Resolution> {
  const decision = await askAbout(flow, reason, evidence, undefined, options);
  if (decision === 'decided') throw new TypeError('nothing else decides');
  return decision;
}

/**
 * After a person's final decision no attempt sends under the claims. Returns why they were not closed, or null. Nothing is
 * given up while the store does not answer: an attempt that is under way could still close them.
 */
async function closeClaims(
  flow: Flow,
  { action, actor, note }: Resolution,
  against: readonly string[],
  remind: () => void,
): Promise<Cause | null> {
  const [claims, reviewedEventIds] = [flow.claims(), flow.book.ids()];
  const about = { flowId: flow.flowId, claims, wasReset: wasReset() };
  const order = { ...about, action, order: { actor, note }, against, reviewedEventIds };
  const closing = observed(() => act(STORE, 'Close the claims to further sends', flow.timeScale).closeByOrder(order));
  while (!(await condition(closing.settled, flow.scaled(REMINDER_MS), REMIND))) remind();
  const [why] = await closing.promise;
  return why === undefined ? null : NOT_CLOSED[why];
}

const REMIND = { summary: 'Remind that it is parked' };

/** People are notified from the store, even while the gateway or Temporal is down. */
function notify(flow: Flow, since: string, actions: readonly ParkAction[]): Observed<void> {
  const { amount, currency } = workflowInfo().memo ?? {};
  const money = typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : {};
  const { reason } = flow.parked ?? {};
  const content = { flowId: flow.flowId, since, ...(reason === undefined ? {} : { reason }), actions, ...money };
  const notifying = observed(() => act(STORE, 'Notify that it is parked', flow.timeScale).notifyParked(content));
  // Cancelled once the flow continues.
  notifying.promise.catch(() => undefined);
  return notifying;
}

/** Runs beside the flow, which it must not delay; the flow ends only after it. */
async function notifyUnparked(flow: Flow, since: string): Promise<void> {
  flow.notifying += 1;
  const order = { flowId: flow.flowId, since };
  await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Notify that it goes on', flow.timeScale).notifyUnparked(order),
  ).catch(() => undefined);
  flow.notifying -= 1;
}

/** Unique within a flow: it identifies the matter, and a step takes no time in a workflow. */
function parkedSince(flow: Flow): string {
  flow.parkedAtMs = Math.max(Date.now(), flow.parkedAtMs + 1);
  return new Date(flow.parkedAtMs).toISOString();
}

/** The requested action, if it is legal now; else undefined. */
export function legalAction(flow: Flow, action: string): ParkAction | undefined {
  return flow.parked?.actions.find((candidate) => candidate === action);
}

/**
 * Handles an update. A refused *Cancel* of the Temporal UI leaves the root scope cancelled for ever, and handlers run
 * in it, so each body gets a scope that cannot be cancelled.
 *
 * @param validator refuses at once: that leaves nothing in the history, and does not count for the limit
 */
export function onUpdate<Answer, Args extends unknown[]>(
  flow: Pick<Flow, 'updates' | 'allowPlaintext'>,
  update: UpdateDefinition<Answer, Args>,
  body: (...args: Args) => Promise<Answer>,
  validator: (...args: Args) => void = () => undefined,
): void {
  // A client without our keys sends in the clear. `checkOrder` refuses what is still wrapped then.
  const opened = (args: Args) =>
    args.map((arg: unknown) => (flow.allowPlaintext && isPlaintext(arg) ? arg.__plaintext : arg)) as Args;
  const handler = (...args: Args) => {
    flow.updates += 1;
    return CancellationScope.nonCancellable(() => body(...opened(args)));
  };
  const refuseBeyond = (...args: Args) => {
    if (update.name !== UPDATES.resolve && flow.updates >= MAX_UPDATES_PER_RUN) {
      const many = `This run of the flow has taken ${MAX_UPDATES_PER_RUN} orders`;
      throw orderRefused('too_many_orders', `${many}: it takes no more of them, except those that resolve it.`);
    }
    validator(...opened(args));
  };
  setHandler(update, handler, { validator: refuseBeyond });
}

/** @throws ApplicationFailure if the order came in the clear to a flow that takes none of those, or names no actor */
export function checkOrder(order: PersonOrder): void {
  if (isPlaintext(order)) {
    throw orderRefused('unencrypted', 'This update came unencrypted. Send it through a client with the payload codec.');
  }
  if (typeof order?.actor !== 'string') throw orderRefused('no_actor', 'The order names no actor.');
}

/** @param type for programs; the gateway shows it as `code` */
export function orderRefused(type: CauseCode, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message });
}
