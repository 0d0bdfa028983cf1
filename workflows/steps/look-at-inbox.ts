import { act } from './activities.js';
import type { Flow } from './flow.js';
import { STORE } from './policies.js';

/** At a deadline: events may lie in the inbox that never got here. The flow takes those that it does not know. */
export async function lookAtInbox(flow: Flow): Promise<void> {
  flow.note('the deadline passed; looking at the inbox once more');
  const summary = 'Deadline: look at the inbox once more';
  for (const event of await act(STORE, summary, flow.timeScale).readInbox({ flowId: flow.flowId }))
    flow.book.take(event);
}
