import { classifyOfAnyKind, type Meaning } from '../../src/protocol/statuses.js';
import { STORE, STORE_PATIENCE_MS } from './policies.js';
import { within } from './waits.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';

/**
 * The inbox may hold events that never reached the flow. The flow takes those that it does not know. False if the store
 * does not answer, or if a webhook is still being matched that may be about this flow: then nothing is known about them.
 */
export async function readInbox(flow: Flow, patienceMs = STORE_PATIENCE_MS): Promise<boolean> {
  const [claim] = flow.claims();
  const order = { flowId: flow.flowId, ...(claim === undefined ? {} : { claim }) };
  const events = await within(flow, patienceMs, () => act(STORE, 'Read the inbox', flow.timeScale).readInbox(order));
  if (events === undefined) flow.note('inbox-not-read', 'the inbox could not be read');
  for (const event of events ?? []) flow.book.take(event);
  return events !== undefined;
}

/** At a deadline. */
export async function checkInbox(flow: Flow): Promise<void> {
  flow.note('deadline-passed', 'the deadline passed; looking at the inbox once more');
  await readInbox(flow);
}

/** What is proven of the flow's money, including trusted events that have not acted yet. */
export function provenOf(flow: Flow): readonly Meaning[] {
  const early = flow.book.waiting().filter(({ trusted }) => trusted);
  return [...early.map(({ status }) => classifyOfAnyKind(status)), ...flow.proven()];
}
