import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport, FlowView } from '../../src/api/flow.js';
import type { TimelineCode } from '../../src/protocol/vocabulary.js';
import { PATIENCE_MS, until } from './until.js';

/** A busy machine has hundreds of these at a time: a query is work for the worker that is to bring the flow on. */
const LONGEST_PAUSE_MS = 250;

export async function reportOf(handle: WorkflowHandle): Promise<FlowReport> {
  return handle.query<FlowReport>('flow');
}

/** Queries a flow until its report matches. @throws Error that shows the last report */
export async function untilFlow(
  handle: WorkflowHandle,
  holds: (report: FlowReport) => boolean,
  withinMs = PATIENCE_MS,
): Promise<FlowReport> {
  const seen: { report?: FlowReport } = {};
  const asked = async () => {
    seen.report = await reportOf(handle);
    return holds(seen.report) && seen.report;
  };
  const what = () => `${handle.workflowId} to be so; it is ${JSON.stringify(seen.report?.view, null, 1)}`;
  return until(what, asked, withinMs, LONGEST_PAUSE_MS);
}

/** Entries of a timeline by their code; `word`: only those that name this status or reason. */
export function entriesOf({ timeline }: Pick<FlowView, 'timeline'>, code: TimelineCode, word = '') {
  const named = new RegExp(`\\b${word}\\b`);
  return timeline.filter((entry) => entry.code === code && (word === '' || named.test(entry.detail)));
}

/** Queries a flow until its timeline has so many entries of this code. */
export const noted = (handle: WorkflowHandle, code: TimelineCode, word = '', times = 1): Promise<FlowReport> =>
  untilFlow(handle, ({ view }) => entriesOf(view, code, word).length >= times);

/** How a flow ended; one that closes as Failed or Cancelled is queried. If time can be skipped, this skips it. */
export async function endOf(handle: WorkflowHandle): Promise<FlowReport> {
  await handle.result().catch(() => undefined);
  return reportOf(handle);
}
