import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { act } from '../steps/activities.js';
import { FlowEnd, endFlow } from '../steps/flow-end.js';
import type { Flow } from '../steps/flow.js';
import { park, type Resolution } from '../steps/park.js';
import { MAX_SIGNALS_PER_RUN, READ, STORE } from '../steps/policies.js';
import { asBridgeStatus, foldStatus, rises, type Ending } from './statuses.js';
import { apply, standing, type Transfer, type TransferCarried } from './transfer.js';

/**
 * Follows an accepted deposit to a proven ending. Trusted events decide; the provider's settlements are reported on to
 * the service; contradictions and mismatches go to a person; at the deadline the inbox is looked at once more.
 */
export async function trackSettlement(flow: Flow, transfer: Transfer): Promise<Ending> {
  let lookedOnceMore = false;
  for (;;) {
    await condition(() => news(transfer) || flow.deadlinePassed || tooLong(flow));
    if (transfer.mismatches.length > 0) await decideMismatch(flow, transfer);
    else if (standing(transfer).kind === 'conflict') await decideConflict(flow, transfer);
    else if (transfer.toReport !== null) await reportPending(flow, transfer);
    else if (standing(transfer).kind === 'ended') return endingOf(transfer);
    else if (tooLong(flow)) await goOnAsNew(flow, transfer);
    else if (!lookedOnceMore) {
      await lookOnceMore(flow);
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

function endingOf(transfer: Transfer): Ending {
  const now = standing(transfer);
  if (now.kind !== 'ended') throw new TypeError(`no ending: ${now.kind}`);
  return now.ending;
}

/** Tells the service what the provider settled. Repeat-safe, so it needs no claim and is retried. */
export async function reportPending(flow: Flow, transfer: Transfer): Promise<void> {
  const event = transfer.toReport;
  const status = asBridgeStatus(event?.status ?? null);
  transfer.toReport = null;
  // A lower status would set the service back: it takes the status that a report carries.
  if (event === null || status === undefined || !rises(transfer.serviceKnows, status)) return;
  const outcome = await act(READ, `Report ${status} to the service`, flow.timeScale).reportSettlement({
    flowId: flow.flowId,
    eventId: event.id,
    reference: flow.reference,
    serviceReference: flow.serviceReference,
  });
  transfer.serviceKnows = foldStatus(transfer.serviceKnows, status);
  if (outcome.kind === 'reported') return flow.note(`${status} reported to the service`);
  flow.note(`the service refused the report of ${status} (${outcome.httpStatus}): ${outcome.message}`, 'service');
  const decision = await park(flow, 'report_refused', { status, ...outcome });
  if (decision !== 'decided' && decision.action === 'report-again') {
    transfer.serviceKnows = { seen: transfer.serviceKnows.seen.filter((word) => word !== status) };
    transfer.toReport ??= event;
  } else endAsOrdered(decision);
}

async function decideMismatch(flow: Flow, transfer: Transfer): Promise<void> {
  const [first] = transfer.mismatches;
  if (first === undefined) return;
  const decision = await park(flow, 'event_mismatch', {
    event: { id: first.event.id, source: first.event.source, status: first.event.status, proof: first.event.proof },
    differs: first.differs,
    theirs: pick(first.event.facts, first.differs),
    ours: oursOf(transfer, first.differs),
  });
  transfer.mismatches = transfer.mismatches.filter((mismatch) => mismatch !== first);
  if (decision !== 'decided' && decision.action === 'accept-event') {
    flow.book.settle(first.event.id, apply(flow, transfer, { ...first.event, trusted: true, proof: 'person' }));
  } else flow.book.settle(first.event.id, 'conflicting');
}

async function decideConflict(flow: Flow, transfer: Transfer): Promise<never> {
  const evidence = { proven: transfer.statuses.seen, why: 'trusted events prove endings that exclude one another' };
  return endAsOrdered(await park(flow, 'conflict', evidence));
}

/** The bridge has no status lookup: what can be looked up is the inbox, where events may lie that never got here. */
async function lookOnceMore(flow: Flow): Promise<void> {
  flow.note('the deadline passed; looking at the inbox once more');
  const events = await act(STORE, 'Deadline: look at the inbox once more', flow.timeScale).readInbox({
    flowId: flow.flowId,
  });
  for (const event of events) flow.book.take(event);
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
    const meant = claimed.find((event) => event.id === decision.eventId) ?? claimed.at(-1);
    if (meant !== undefined) {
      const fate = apply(flow, transfer, { ...meant, trusted: true, proof: 'person' });
      transfer.unverified = transfer.unverified.filter((event) => event !== meant);
      flow.book.settle(meant.id, fate);
    }
    return;
  }
  endAsOrdered(decision);
}

/** A person's word on how it ended. */
export function endAsOrdered(decision: Resolution | 'decided'): never {
  if (decision === 'decided') throw new TypeError('nothing was ordered');
  const by = `by ${decision.actor}: ${decision.note}`;
  if (decision.action === 'mark-completed') {
    throw new FlowEnd({ state: 'completed', reason: null, detail: `Marked as completed ${by}` });
  }
  if (decision.action === 'mark-refunded') {
    throw new FlowEnd({ state: 'refunded', reason: null, detail: `Marked as refunded ${by}` });
  }
  return endFlow('failed', 'closed_by_person', `Closed as failed ${by}`);
}

function tooLong(flow: Flow): boolean {
  return flow.signals() >= MAX_SIGNALS_PER_RUN || workflowInfo().continueAsNewSuggested;
}

/** Between steps only: no POST is in flight here, ids and the absolute deadline travel along. */
async function goOnAsNew(flow: Flow, transfer: Transfer): Promise<never> {
  await condition(allHandlersFinished);
  const carried: TransferCarried = { flow: flow.carry(), transfer };
  return continueAsNew<(input: unknown, carried: TransferCarried) => Promise<unknown>>(transfer.input, carried);
}

const briefly = (event: { id: string; status: string | null; receivedAt: string }) => ({
  id: event.id,
  status: event.status,
  receivedAt: event.receivedAt,
});

function pick(facts: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])));
}

function oursOf(transfer: Transfer, names: readonly string[]): Record<string, string> {
  const { input } = transfer;
  return pick(
    {
      amount: `${input.amount} ${input.source_currency}, ${input.settlement.amount} ${input.settlement.currency}`,
      settlementAmount: input.settlement.amount,
      settlementCurrency: input.settlement.currency,
      chain: input.chain,
      token: input.token,
      serviceReference: transfer.deposit?.serviceReference ?? '',
      paymentHash: input.crypto_payment.payment_hash ?? transfer.deposit?.paymentHash ?? '',
      cryptoAmount: input.crypto_payment.crypto_amount ?? '',
      amountMsat: input.crypto_payment.amount_msat ?? '',
    },
    names,
  );
}
