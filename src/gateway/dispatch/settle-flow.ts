import type { InboxStore } from '../../store/inbox.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { markLate, type DeliverDeps } from './deliver-batch.js';
import { fatesOf } from './fates-of-report.js';
import type { OpenSignals } from './open-signals.js';

export interface SettleDeps {
  readonly inbox: InboxStore;
  readonly reader: Pick<FlowReader, 'facts' | 'report'>;
  readonly openSignals: OpenSignals;
  readonly logger: DeliverDeps['logger'];
  readonly nowMs: () => number;
}

/** A flow that is closed and did not name an event by then never will. */
const UNKNOWN_FOR_MS = 60_000;
const RISEN_AT_ONCE = 100;

/**
 * Settles the rows of one flow by what the flow says became of its events. Returns whether all of `ids` are settled.
 * Rows that were settled as unverified are looked at again: a person may have vouched for them since.
 */
export async function settleFlow(deps: SettleDeps, flowId: string, ids: readonly string[]): Promise<boolean> {
  const report = await deps.reader.report(flowId);
  const unverified = await deps.inbox.list({ flowId, state: 'unverified', limit: RISEN_AT_ONCE });
  const fates = report === undefined ? [] : fatesOf(report, new Set([...ids, ...unverified.map(({ id }) => id)]));
  if (fates.length > 0) await deps.inbox.settle(fates);

  const settled = new Set(fates.map(({ id }) => id));
  const unknown = ids.filter((id) => !settled.has(id));
  if (unknown.length < ids.length) deps.openSignals.taken(flowId);
  if (unknown.length === 0) return true;
  return settleUnknown(deps, flowId, unknown);
}

async function settleUnknown(deps: SettleDeps, flowId: string, ids: readonly string[]): Promise<boolean> {
  const facts = await deps.reader.facts(flowId);
  if (facts?.isOpen === true) return false;
  const rows = (await Promise.all(ids.map((id) => deps.inbox.get(id)))).filter((row) => row !== undefined);
  const old = rows.filter((row) => deps.nowMs() - Date.parse(row.deliveredAt ?? row.receivedAt) > UNKNOWN_FOR_MS);
  if (facts !== undefined) await markLate(deps, old, facts);
  else {
    const detail = 'The flow is gone from Temporal, and did not say what became of this.';
    await deps.inbox.settle(old.map(({ id }) => ({ id, state: 'late' as const, detail })));
  }
  return old.length === ids.length;
}
