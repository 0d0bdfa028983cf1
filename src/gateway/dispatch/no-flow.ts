import type { InboxRow, InboxStore } from '../../store/inbox.js';
import type { FlowReader } from '../../temporal/flow-handle.js';

export interface NoFlowDeps {
  readonly inbox: Pick<InboxStore, 'settle' | 'hasten'>;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly nowMs: () => number;
}

const HOUR_MS = 3_600_000;
/** An account webhook may be of what the account's other users did: no flow of ours, ever. */
const PROVEN_WAITS_MS = 24 * HOUR_MS;
/** Anybody can post settlements for flows that never will be, as many as the limit lets through. */
const UNPROVEN_WAITS_MS = HOUR_MS;

/**
 * Events whose flow does not exist, and did not come in time: listed as unmatched. Kept waiting they would cost calls for
 * ever, and in the end take the places of those that have a flow. A flow that starts later has them all the same
 * (`hasten`).
 *
 * @returns those that may still wait
 */
export async function setForeignAside(
  { inbox, reader, nowMs }: NoFlowDeps,
  flowId: string,
  rows: readonly InboxRow[],
): Promise<readonly InboxRow[]> {
  const isOver = ({ proof, receivedAt }: InboxRow): boolean =>
    nowMs() - Date.parse(receivedAt) > (proof === null ? UNPROVEN_WAITS_MS : PROVEN_WAITS_MS);
  const over = rows.filter(isOver);
  if (over.length === 0) return rows;
  const detail = 'No flow of this id was started in time. One that is started later still gets it.';
  await inbox.settle(over.map(({ id }) => ({ id, state: 'unmatched' as const, detail })));
  // Started in this very moment: its own order to hasten came too early to find these.
  if ((await reader.facts(flowId)) !== undefined) await inbox.hasten(flowId);
  return rows.filter((row) => !isOver(row));
}
