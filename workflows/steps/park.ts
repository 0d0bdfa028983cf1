import { condition } from '@temporalio/workflow';
import type { ResolveOrder } from '../../src/flows/messages.js';
import { PARK_ACTIONS, type ParkAction, type ParkReason } from '../../src/flows/vocabulary.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';
import { showState } from './flow-search.js';
import { REMINDER_MS, STORE, STORE_PATIENCE_MS } from './policies.js';
import { within } from './waits.js';

export interface Resolution extends ResolveOrder {
  readonly action: ParkAction;
}

/**
 * Waits for a person, with the reason, the evidence and the legal actions on show, and reminds once a day. A late event
 * may decide instead: then `decided` holds, and the answer is `decided`.
 */
export async function park(
  flow: Flow,
  reason: ParkReason,
  evidence: Readonly<Record<string, unknown>>,
  decided: () => boolean = () => false,
  /** Actions of the reason that this flow cannot carry out. */
  without: readonly ParkAction[] = [],
): Promise<Resolution | 'decided'> {
  const since = new Date().toISOString();
  const legal: readonly ParkAction[] = PARK_ACTIONS[reason];
  const actions = legal.filter((action) => !without.includes(action));
  flow.parked = { reason, since, actions, evidence };
  flow.resolution = null;
  showState('parked');
  flow.note(`parked: ${reason}`);
  const settled = () => flow.resolution !== null || decided();
  while (!(await condition(settled, flow.scaled(REMINDER_MS), { summary: 'Remind that it is parked' }))) {
    const order = { flowId: flow.flowId, reason, since };
    await within(flow, STORE_PATIENCE_MS, () =>
      act(STORE, `Remind: parked since ${since}`, flow.timeScale).remindParked(order),
    );
  }
  const resolution = takeResolution(flow);
  flow.parked = null;
  showState(null);
  if (resolution === 'decided') flow.note(flow.stop === null ? 'a late event decided' : 'stopped while it was parked');
  else flow.note(`${resolution.action}: ${resolution.note}`, resolution.actor);
  return resolution;
}

/** The action that is meant, if it is legal now; else undefined. */
export function legalAction(flow: Flow, action: string): ParkAction | undefined {
  return flow.parked?.actions.find((candidate) => candidate === action);
}

function takeResolution(flow: Flow): Resolution | 'decided' {
  const resolution = flow.resolution ?? 'decided';
  flow.resolution = null;
  return resolution;
}
