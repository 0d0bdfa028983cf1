import type { Flow, Towline } from '../sdk/index.js';
import type { CliContext } from './context.js';
import { createUnseen, timelineLine } from './flow-text.js';
import { printable } from './print.js';

/** One question to the gateway, which is answered at once when the flow ends or parks. */
const FIRST_MS = 1_000;
const LONGEST_MS = 20_000;

/**
 * Waits until a flow ends or parks. Meanwhile stderr shows what is new, and if nothing is, that the flow is under way: a
 * payment may take days.
 * @param timeoutMs undefined: for as long as it takes
 */
export async function waitForFlow(
  context: Pick<CliContext, 'err' | 'colors'>,
  gateway: Pick<Towline, 'wait'>,
  flowId: string,
  timeoutMs = Infinity,
): Promise<Flow> {
  const startedMs = performance.now();
  const unseen = createUnseen();
  for (let turnMs = FIRST_MS; ; turnMs = Math.min(LONGEST_MS, turnMs * 2)) {
    const leftMs = Math.max(0, timeoutMs - (performance.now() - startedMs));
    const flow = await gateway.wait(flowId, { timeoutMs: Math.min(turnMs, leftMs), outageMs: 0 });
    if (flow.state !== 'running' || leftMs <= turnMs) return flow;
    const { timeline, stage, deadlineAt } = printable(flow);
    const fresh = unseen(timeline);
    for (const entry of fresh) context.err(timelineLine(context, entry));
    if (fresh.length > 0) continue;
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const until = deadlineAt === null ? '' : `; at the latest at ${deadlineAt} it ends or parks`;
    context.err(`${flowId} is still under way after ${seconds} s (${stage})${until}`);
  }
}
