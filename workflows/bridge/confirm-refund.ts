import { condition } from '@temporalio/workflow';
import { PAYMENT_WORDS } from '../../src/protocol/statuses.js';
import { readTime } from '../../src/readers/time.js';
import { flowIdOf } from '../../src/protocol/vocabulary.js';
import { decideMismatch } from '../engine/evidence.js';
import { endFromDecision } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { parkAndLook, pollStatus } from '../engine/look.js';
import { askAbout } from '../engine/park.js';
import { newPayment, paymentState, takeReading, type Payment, type TrackPlan } from '../engine/payment.js';
import { REFUND_CONFIRM_MS } from '../engine/policies.js';
import type { Accepted } from '../engine/post.js';
import { isDecided } from './conflict.js';
import { sentFacts, type OrderedRefund } from './refund-terms.js';
import { bridgeState, isRefunded, rulesOf, type Transfer } from './transfer.js';

const REFUND: TrackPlan = { noun: 'the refund', words: PAYMENT_WORDS, hasLookup: true, firstLookMs: 0 };

/**
 * The send was accepted; its own status says whether it arrived, as for every crypto send. A completion of the transfer
 * meanwhile is a contradiction.
 */
export async function confirmRefund(
  flow: Flow,
  transfer: Transfer,
  order: OrderedRefund,
  submitted: Accepted,
): Promise<'arrived' | 'conflict' | { readonly word: string }> {
  const send = sendOf(transfer, order, submitted.maybeAnother === true || submitted.isRepeat === true);
  if (submitted.other !== undefined) send.otherRecord = submitted.other;
  const refundState = () => {
    const ended = endOf(send);
    // A failed send of ours is no second refund.
    const hasFailed = ended !== null && ended !== 'arrived';
    return bridgeState(transfer).kind === 'conflict' || (isRefunded(transfer) && !hasFailed) ? 'conflict' : ended;
  };
  let notBeforeMs = 0;
  for (;;) {
    const polling = pollStatus(flow, send, REFUND, 0);
    const summary = 'Wait until the refund is confirmed';
    const isOver = () => polling.settled() || isDecided(transfer)() || flow.deadlinePassed;
    await condition(isOver, Math.max(flow.scaled(REFUND_CONFIRM_MS), notBeforeMs - Date.now()), { summary });
    if (polling.settled()) takeReading(flow, send, REFUND, await polling.promise);
    else polling.cancel();
    const ended = refundState();
    if (ended !== null) return ended;
    if (transfer.mismatches.length > 0) {
      await decideMismatch(flow, transfer, rulesOf(flow, transfer));
      continue;
    }
    // The status is not final: the next one is awaited for as long.
    if (polling.settled() && send.otherRecord === undefined) continue;
    const evidence = { reference: order.reference, ...send.otherRecord };
    const asked = { reason: 'refund_unconfirmed', evidence } as const;
    // A record of another send stays one, however often it is looked up.
    const decision = send.otherRecord
      ? await askAbout(flow, asked.reason, () => evidence, isDecided(transfer))
      : await parkAndLook(flow, send, REFUND, asked, isDecided(transfer));
    delete send.otherRecord;
    if (decision !== 'decided' && decision.action !== 'keep-waiting') endFromDecision(decision);
    const until = decision === 'decided' ? undefined : decision.until;
    notBeforeMs = readTime(until) ?? 0;
    if (until !== undefined || (decision !== 'decided' && flow.deadlinePassed)) flow.extendDeadline(until);
    const meanwhile = refundState();
    if (meanwhile !== null) return meanwhile;
  }
}

function endOf(send: Payment): 'arrived' | { readonly word: string } | null {
  const now = paymentState(send);
  if (now.kind === 'open' || send.otherRecord !== undefined) return null;
  return now.kind === 'ended' && now.meaning === 'succeeded' ? 'arrived' : { word: send.words.at(-1) ?? now.kind };
}

/** It is looked up like any crypto send. */
function sendOf(transfer: Transfer, order: OrderedRefund, maybeTwice: boolean): Payment {
  const { reference } = order;
  const send = newPayment({
    input: { referenceId: reference },
    windows: transfer.windows,
    steps: {},
    pin: transfer.pin,
  });
  const lookUpAs = flowIdOf('crypto-send', reference);
  return { ...send, lookUpAs, maybeTwice, facts: sentFacts(order) };
}
