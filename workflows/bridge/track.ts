import { condition } from '@temporalio/workflow';
import { decideMismatch, trustClaimed } from '../engine/evidence.js';
import { endFromDecision } from '../engine/flow-end.js';
import { brief, selectedEvent } from '../engine/event-book.js';
import type { Flow } from '../engine/flow.js';
import { continueFlowAsNew, tooLong } from '../engine/run-flow.js';
import { park } from '../engine/park.js';
import { FAILURE_GRACE_MS } from '../engine/policies.js';
import { decideConflict } from './conflict.js';
import { reportPending } from './report.js';
import type { BridgeEnding } from './statuses.js';
import { rulesOf, bridgeState, type Transfer, type TransferCarried } from './transfer.js';
import { checkInbox, readInbox } from '../engine/inbox.js';
import { fundsHeld } from './refund-due.js';

/**
 * Follows an accepted deposit to a proven ending. Trusted events decide; the provider's settlements are reported to the
 * service; contradictions and mismatches go to a person; at the deadline the inbox is read once more.
 */
export async function trackSettlement(flow: Flow, transfer: Transfer): Promise<BridgeEnding> {
  let lookedOnceMore = false;
  for (;;) {
    await condition(() => hasWork(transfer) || flow.deadlinePassed || tooLong(flow));
    const now = bridgeState(transfer);
    if (transfer.mismatches.length > 0) await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    else if (now.kind === 'conflict') await decideConflict(flow, transfer);
    else if (transfer.toReport !== null) await reportPending(flow, transfer);
    else if (now.kind === 'ended') {
      if (await isUncontradicted(flow, transfer, now.ending)) return now.ending;
    } else if (tooLong(flow))
      await continueFlowAsNew(flow, transfer.input, (): TransferCarried => ({ flow: flow.carry(), transfer }));
    else if (!lookedOnceMore) {
      // The bridge has no status lookup, so the inbox is read instead.
      await checkInbox(flow);
      lookedOnceMore = true;
    } else {
      await decideOverdue(flow, transfer);
      lookedOnceMore = false;
    }
  }
}

/** True if the loop has something to do. */
function hasWork(transfer: Transfer): boolean {
  return transfer.mismatches.length > 0 || transfer.toReport !== null || bridgeState(transfer).kind !== 'open';
}

/**
 * Events come in any order: a failure that owes nothing counts only after a while in which no event contradicts it. A
 * refund that is or may be due has a wait of its own.
 */
async function isUncontradicted(flow: Flow, transfer: Transfer, ending: BridgeEnding): Promise<boolean> {
  if (ending !== 'FAILED' || fundsHeld(transfer) !== 'absent') return true;
  const contradicted = () => {
    const now = bridgeState(transfer);
    const failureConfirmed = now.kind === 'ended' && now.ending === ending && fundsHeld(transfer) === 'absent';
    return !failureConfirmed || transfer.mismatches.length > 0 || transfer.toReport !== null;
  };
  const summary = 'Is the failure contradicted?';
  if (await condition(contradicted, flow.scaled(FAILURE_GRACE_MS), { summary })) return false;
  // An event against it may be in the inbox, and not have reached the flow.
  await readInbox(flow);
  return !contradicted();
}

async function decideOverdue(flow: Flow, transfer: Transfer): Promise<void> {
  const claimed = transfer.unverified.filter((event) =>
    ['COMPLETED', 'FAILED', 'REFUNDED'].includes(event.status ?? ''),
  );
  const proven = transfer.statuses.seen;
  const decision =
    claimed.length > 0
      ? await park(flow, 'unverified_settlement', { proven, claimed: claimed.map(brief) }, () => hasWork(transfer))
      : await park(flow, 'no_settlement', { proven }, () => hasWork(transfer));
  if (decision === 'decided') return;
  if (decision.action === 'keep-waiting') return flow.extendDeadline(decision.until);
  if (decision.action === 'trust-settlement') {
    const meant = selectedEvent(claimed, decision);
    if (meant !== undefined) trustClaimed(flow, transfer, rulesOf(flow, transfer), meant);
    return;
  }
  endFromDecision(decision);
}
