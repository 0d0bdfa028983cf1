import type { InboxStore } from '../../src/store/inbox.js';
import { INBOX_STATES, type InboxState } from '../../src/protocol/events.js';

/** How many events of an inbox are in each state: all of its rows are read. */
export async function statesOf(inbox: Pick<InboxStore, 'list'>): Promise<Readonly<Record<InboxState, number>>> {
  const states = Object.fromEntries(INBOX_STATES.map((state) => [state, 0])) as Record<InboxState, number>;
  for (const { state } of await inbox.list({ limit: 1_000_000, bodies: false })) states[state] += 1;
  return states;
}
