import { groupBy } from './group-by.js';
import type { Violation, Witnesses } from './witnesses.js';

const OPEN = ['waiting', 'delivered'];
const KNOWN = [...OPEN, 'applied', 'duplicate', 'unverified', 'late', 'unmatched', 'conflicting'];

/** I5: what was answered 2xx lies in the inbox, nothing of a known flow is left open, and each is applied to one flow. */
export function eventsAccountedFor({ inbox, answered, unanswered, flows }: Witnesses): readonly Violation[] {
  const found: string[] = [];
  const kept = inbox.reduce((sum, { repeats }) => sum + 1 + repeats, 0);
  if (kept < answered || kept > answered + unanswered) {
    found.push(`${answered} webhooks were answered 2xx (${unanswered} not at all), and ${kept} are in the inbox`);
  }
  const known = new Set(flows.map(({ flowId }) => flowId));
  for (const { flowId, state, status } of inbox) {
    if (!KNOWN.includes(state)) found.push(`an event of ${flowId} is in the state ${state}`);
    if (flowId !== null && known.has(flowId) && OPEN.includes(state)) {
      found.push(`${status} of ${flowId} is still ${state}`);
    }
    if (state === 'applied' && !known.has(flowId ?? ''))
      found.push(`${status} was applied to ${flowId}, which is no flow`);
  }
  const applied = groupBy(
    inbox.filter(({ state }) => state === 'applied'),
    ({ contentHash }) => contentHash,
  );
  for (const rows of applied.values()) {
    const to = new Set(rows.map(({ flowId }) => flowId));
    if (to.size > 1) found.push(`one event was applied to ${[...to].join(' and ')}`);
  }
  return found.map((what) => ({ invariant: 'I5', what }));
}
