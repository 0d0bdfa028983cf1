import { condition, ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import type { UpdateDefinition } from '@temporalio/common';
import type { PersonOrder } from '../../src/protocol/messages.js';
import { PARK_ACTIONS, type ParkAction, type ParkReason } from '../../src/protocol/vocabulary.js';
import { isPlaintext } from '../../src/protocol/plaintext-marker.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';
import { showParked } from './search-attributes.js';
import { REMINDER_MS, STORE, STORE_PATIENCE_MS } from './policies.js';
import { within } from './waits.js';
import type { Resolution } from './messages.js';
import { readInbox } from './inbox.js';

export interface ParkOptions {
  /** Actions of the reason that this flow cannot carry out. */
  readonly without?: readonly ParkAction[];
  /** Asks the service once more, where it can be asked: what it says may make `decided` hold. */
  readonly lookAgain?: () => Promise<void>;
  /** Why an order cannot be carried out by what is known at that moment; null: it can. */
  readonly refusalOf?: (order: Resolution) => string | null;
  /** What the order needs done before it holds; why that could not be done, or null. */
  readonly secure?: (order: Resolution) => Promise<string | null>;
}

const DECIDED = 'what is proven by now decides';

/** They end nothing and send nothing. */
const HARMLESS: readonly ParkAction[] = ['keep-waiting', 'accept-event', 'dismiss-event', 'report-again'];

/**
 * Waits for a person, with the reason, the evidence and the legal actions on show, and reminds once a day. A late event
 * may decide instead: then `decided` holds, and the answer is `decided`. So it is where an order is refused because of what
 * the inbox or the service say by the time that it is carried out.
 */
export async function park(
  flow: Flow,
  reason: ParkReason,
  evidence: Readonly<Record<string, unknown>>,
  decided: () => boolean = () => false,
  { without = [], lookAgain, refusalOf = () => null, secure = async () => null }: ParkOptions = {},
): Promise<Resolution | 'decided'> {
  const since = new Date().toISOString();
  const legal: readonly ParkAction[] = PARK_ACTIONS[reason];
  const actions = legal.filter((action) => !without.includes(action));
  flow.parked = { reason, since, actions, evidence };
  flow.resolution = null;
  showParked(reason);
  flow.note(`parked: ${reason}`);
  const settled = () => flow.resolution !== null || decided();
  while (!(await condition(settled, flow.scaled(REMINDER_MS), { summary: 'Remind that it is parked' }))) {
    const order = { flowId: flow.flowId, reason, since };
    await within(flow, STORE_PATIENCE_MS, () =>
      act(STORE, `Remind: parked since ${since}`, flow.timeScale).remindParked(order),
    );
  }
  const order = flow.resolution as Resolution | null;
  if (order !== null && !HARMLESS.includes(order.action)) {
    await readInbox(flow);
    if (!decided()) await lookAgain?.();
  }
  const whyNot = (): string | null => (order === null ? null : decided() ? DECIDED : refusalOf(order));
  const why = order === null ? null : (whyNot() ?? (await secure(order)) ?? whyNot());
  flow.resolution = null;
  flow.parked = null;
  showParked(null);
  if (order === null) {
    flow.note(flow.stop === null ? 'a late event decided' : 'stopped while it was parked');
    return 'decided';
  }
  if (why === null) {
    flow.note(`${order.action}: ${order.note}`, order.actor);
    return order;
  }
  flow.refused = { order, why };
  flow.note(`${order.action} refused: ${why}`, order.actor);
  return 'decided';
}

/** The action that is meant, if it is legal now; else undefined. */
export function legalAction(flow: Flow, action: string): ParkAction | undefined {
  return flow.parked?.actions.find((candidate) => candidate === action);
}

/**
 * Handles an update. A refused *Cancel* of the Temporal UI leaves the root scope cancelled for ever, and handlers run in
 * it: each body gets a scope that cannot be cancelled.
 */
export function onUpdate<Answer, Args extends unknown[]>(
  update: UpdateDefinition<Answer, Args>,
  body: (...args: Args) => Promise<Answer>,
  validator?: (...args: Args) => void,
): void {
  const handler = (...args: Args) => CancellationScope.nonCancellable(() => body(...args));
  setHandler(update, handler, validator === undefined ? {} : { validator });
}

export function checkOrder(flow: Flow, order: PersonOrder): void {
  if (isPlaintext(order) && !flow.allowPlaintext) {
    throw notAllowed('not_allowed', 'This update came unencrypted. Send it through a client with the payload codec.');
  }
  if (typeof order?.actor !== 'string') throw notAllowed('not_allowed', 'The order names no actor.');
}

export function notAllowed(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
