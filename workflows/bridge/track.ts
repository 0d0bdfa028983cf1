import { condition } from '@temporalio/workflow';
import { decideMismatch, vouchFor } from '../steps/evidence.js';
import { endAsOrdered } from '../steps/end-as-ordered.js';
import { meantEvent } from '../steps/event-meant.js';
import type { Flow } from '../steps/flow.js';
import { goOnAsNew, tooLong } from '../steps/go-on-as-new.js';
import { lookAtInbox } from '../steps/look-at-inbox.js';
import { park } from '../steps/park.js';
import { FAILURE_GRACE_MS } from '../steps/policies.js';
import { fundsHeld } from './refund-due.js';
import { reportPending } from './report.js';
import type { Ending } from './statuses.js';
import { brief, decideConflict, rulesOf, standing, type Transfer, type TransferCarried } from './transfer.js';

/**
 * Follows an accepted deposit to a proven ending. Trusted events decide; the provider's settlements are reported on to
 * the service; contradictions and mismatches go to a person; at the deadline the inbox is looked at once more.
 */
export async function trackSettlement(flow: Flow, transfer: Transfer): Promise<Ending> {
  let lookedOnceMore = false;
  for (;;) {
    await condition(() => news(transfer) || flow.deadlinePassed || tooLong(flow));
    const now = standing(transfer);
    if (transfer.mismatches.length > 0) await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    else if (now.kind === 'conflict') await decideConflict(flow, transfer);
    else if (transfer.toReport !== null) await reportPending(flow, transfer);
    else if (now.kind === 'ended') {
      if (await isUncontradicted(flow, transfer, now.ending)) return now.ending;
    } else if (tooLong(flow))
      await goOnAsNew(flow, transfer.input, (): TransferCarried => ({ flow: flow.carry(), transfer }));
    else if (!lookedOnceMore) {
      // The bridge has no status lookup: what can be looked up is the inbox.
      await lookAtInbox(flow);
      lookedOnceMore = true;
    } else {
      await decideOverdue(flow, transfer);
      lookedOnceMore = false;
    }
  }
}

/** True where the loop has something to do. */
export function news(transfer: Transfer): boolean {
  return transfer.mismatches.length > 0 || transfer.toReport !== null || standing(transfer).kind !== 'open';
}

/**
 * Events come in any order: a failure that owes nothing is believed only after a while in which none comes, and none
 * says otherwise. A refund that is due, or may be, waits by itself.
 */
async function isUncontradicted(flow: Flow, transfer: Transfer, ending: Ending): Promise<boolean> {
  if (ending !== 'FAILED' || fundsHeld(transfer) !== 'absent') return true;
  const contradicted = () => {
    const now = standing(transfer);
    const stands = now.kind === 'ended' && now.ending === ending && fundsHeld(transfer) === 'absent';
    return !stands || transfer.mismatches.length > 0 || transfer.toReport !== null;
  };
  return !(await condition(contradicted, flow.scaled(FAILURE_GRACE_MS), { summary: 'Is the failure contradicted?' }));
}

async function decideOverdue(flow: Flow, transfer: Transfer): Promise<void> {
  const claimed = transfer.unverified.filter((event) =>
    ['COMPLETED', 'FAILED', 'REFUNDED'].includes(event.status ?? ''),
  );
  const proven = transfer.statuses.seen;
  const decision =
    claimed.length > 0
      ? await park(flow, 'unverified_settlement', { proven, claimed: claimed.map(brief) }, () => news(transfer))
      : await park(flow, 'no_settlement', { proven }, () => news(transfer));
  if (decision === 'decided') return;
  if (decision.action === 'keep-waiting') return flow.extendDeadline();
  if (decision.action === 'trust-settlement') {
    const meant = meantEvent(claimed, decision);
    if (meant !== undefined) vouchFor(flow, transfer, rulesOf(flow, transfer), meant);
    return;
  }
  endAsOrdered(decision);
}
