import { condition } from '@temporalio/workflow';
import type { RefundOrder } from '../../activities/bridge-terms.js';
import { addressFact } from '../../src/flows/address-fact.js';
import { PAYMENT_WORDS } from '../../src/flows/meanings.js';
import { flowIdOf } from '../../src/flows/vocabulary.js';
import { endAsOrdered } from '../steps/end-as-ordered.js';
import type { Flow } from '../steps/flow.js';
import { park } from '../steps/park.js';
import { REFUND_CONFIRM_MS } from '../steps/policies.js';
import { parkAndLook, pollStatus } from '../payment/look.js';
import { newPayment, standing as standingOf, takeReading, type Payment, type TrackPlan } from '../payment/payment.js';
import { standing, type Transfer } from './transfer.js';

const REFUND: TrackPlan = { noun: 'the refund', words: PAYMENT_WORDS, hasLookup: true, firstLookMs: 0 };

/**
 * The send was accepted; its own status says whether it arrived, as of every crypto send. A completion of the transfer
 * meanwhile is a contradiction.
 */
export async function confirmRefund(
  flow: Flow,
  transfer: Transfer,
  order: RefundOrder,
): Promise<'arrived' | 'conflict' | { readonly word: string }> {
  const send = sendOf(transfer, order);
  const isConflict = () => standing(transfer).kind === 'conflict';
  for (;;) {
    const polling = pollStatus(flow, send, REFUND, 0);
    const summary = 'Wait until the refund is confirmed';
    const isOver = () => polling.settled() || isConflict() || flow.deadlinePassed;
    await condition(isOver, flow.scaled(REFUND_CONFIRM_MS), { summary });
    if (polling.settled()) takeReading(flow, send, REFUND, await polling.promise);
    else polling.cancel();
    if (isConflict()) return 'conflict';
    const ended = endOf(send);
    if (ended !== null) return ended;
    // A word that is not final: the next one is waited for as long.
    if (polling.settled() && send.otherRecord === undefined) continue;
    const evidence = { reference: order.reference, ...send.otherRecord };
    const asked = { reason: 'refund_unconfirmed', evidence } as const;
    // A record of another send stays one, however often it is looked at.
    const decision = send.otherRecord
      ? await park(flow, asked.reason, evidence, isConflict)
      : await parkAndLook(flow, send, REFUND, asked, isConflict);
    delete send.otherRecord;
    if (decision !== 'decided' && decision.action !== 'keep-waiting') endAsOrdered(decision);
    if (decision !== 'decided' && flow.deadlinePassed) flow.extendDeadline();
    const meanwhile = isConflict() ? 'conflict' : endOf(send);
    if (meanwhile !== null) return meanwhile;
  }
}

function endOf(send: Payment): 'arrived' | { readonly word: string } | null {
  const now = standingOf(send);
  if (now.kind === 'open' || send.otherRecord !== undefined) return null;
  return now.kind === 'ended' && now.meaning === 'succeeded' ? 'arrived' : { word: send.words.at(-1) ?? now.kind };
}

/** It is looked up as the crypto send that it is. */
function sendOf(transfer: Transfer, { reference, cryptoAmount, receiverAddress }: RefundOrder): Payment {
  const send = newPayment({
    input: { referenceId: reference },
    windows: transfer.windows,
    steps: {},
    pin: transfer.pin,
  });
  const lookUpAs = flowIdOf('crypto-send', reference);
  return { ...send, lookUpAs, facts: { cryptoAmount, receiverAddress: addressFact(receiverAddress) } };
}
