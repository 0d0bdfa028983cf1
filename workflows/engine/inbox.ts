import { STORE, STORE_PATIENCE_MS } from './policies.js';
import { within } from './waits.js';
import { act } from './activities.js';
import type { Flow } from './flow.js';

/** Events may lie in the inbox that never got here. The flow takes those that it does not know. */
export async function readInbox(flow: Flow): Promise<void> {
  const events = await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Read the inbox', flow.timeScale).readInbox({ flowId: flow.flowId }),
  );
  if (events === undefined) flow.note('the inbox could not be read');
  for (const event of events ?? []) flow.book.take(event);
}

/** At a deadline. */
export async function checkInbox(flow: Flow): Promise<void> {
  flow.note('the deadline passed; looking at the inbox once more');
  await readInbox(flow);
}
