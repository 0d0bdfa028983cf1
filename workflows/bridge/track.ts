import { condition, patched } from '@temporalio/workflow';
import { BRIDGE_GRACE_PATCH } from '../../src/flows/vocabulary.js';
import { decideMismatch, vouchFor } from '../steps/evidence.js';
import { endAsOrdered } from '../steps/end-as-ordered.js';
import { meantEvent } from '../steps/event-meant.js';
import type { Flow } from '../steps/flow.js';
import { goOnAsNew, tooLong } from '../steps/go-on-as-new.js';
import { lookAtInbox } from '../steps/look-at-inbox.js';
import { park } from '../steps/park.js';
import { FAILURE_GRACE_MS } from '../steps/policies.js';
import { refundIsDue } from './refund-due.js';
import { reportPending } from './report.js';
import type { Ending } from './statuses.js';
import { rulesOf, standing, type Transfer, type TransferCarried } from './transfer.js';

/**
 * Follows an accepted deposit to a proven ending. Trusted events decide; the provider's settlements are reported on to
 * the service; contradictions and mismatches go to a person; at the deadline the inbox is looked at once more.
 */
export async function trackSettlement(flow: Flow, transfer: Transfer): Promise<Ending> {
  let lookedOnceMore = false;
  for (;;) {
    await condition(() => news(transfer) || flow.deadlinePassed || tooLong(flow));
    if (transfer.mismatches.length > 0) await decideMismatch(flow, transfer, rulesOf(flow, transfer));
    else if (standing(transfer).kind === 'conflict') await decideConflict(flow, transfer);
    else if (transfer.toReport !== null) await reportPending(flow, transfer);
    else if (standing(transfer).kind === 'ended' && !(await stands(flow, transfer))) continue;
    else if (standing(transfer).kind === 'ended') return endingOf(transfer);
    else if (tooLong(flow))
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
 * Events come in any order: a failure without a trace of the crypto is believed only after a while in which none comes,
 * and none says otherwise. A refund that is due waits by itself.
 */
async function stands(flow: Flow, transfer: Transfer): Promise<boolean> {
  const isBare = () => endingOf(transfer) === 'FAILED' && !refundIsDue(transfer);
  if (!isBare() || !patched(BRIDGE_GRACE_PATCH)) return true;
  const contradicted = () =>
    transfer.mismatches.length > 0 || transfer.toReport !== null || standing(transfer).kind !== 'ended' || !isBare();
  return !(await condition(contradicted, flow.scaled(FAILURE_GRACE_MS), { summary: 'Is the failure contradicted?' }));
}

function endingOf(transfer: Transfer): Ending {
  const now = standing(transfer);
  if (now.kind !== 'ended') throw new TypeError(`no ending: ${now.kind}`);
  return now.ending;
}

async function decideConflict(flow: Flow, transfer: Transfer): Promise<never> {
  const evidence = { proven: transfer.statuses.seen, why: 'trusted events prove endings that exclude one another' };
  return endAsOrdered(await park(flow, 'conflict', evidence));
}

async function decideOverdue(flow: Flow, transfer: Transfer): Promise<void> {
  const claimed = transfer.unverified.filter((event) =>
    ['COMPLETED', 'FAILED', 'REFUNDED'].includes(event.status ?? ''),
  );
  const proven = transfer.statuses.seen;
  const decision =
    claimed.length > 0
      ? await park(flow, 'unverified_settlement', { proven, claimed: claimed.map(briefly) }, () => news(transfer))
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

const briefly = (event: { id: string; status: string | null; receivedAt: string }) => ({
  id: event.id,
  status: event.status,
  receivedAt: event.receivedAt,
});
