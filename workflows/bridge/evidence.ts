import { shownCause, type Cause } from '../../src/protocol/causes.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import { isFinal } from '../../src/protocol/statuses.js';
import { brief } from '../engine/events-in.js';
import { postIn } from '../engine/report.js';
import type { End, View } from '../engine/plan.js';
import { requestOf } from '../engine/view.js';
import { isBegun, isRefund, knownNow, transferIn, whyNoRefund, whyNotAgain } from './refund.js';
import { refundTerms } from './refund-terms.js';
import { bridgeStateOf } from './statuses.js';
import { isRefunded, whatArrived } from './transfer.js';
import { whyNoQuote } from './quotes.js';

type Evidence = Readonly<Record<string, unknown>>;

/** What a person is shown of a transfer. */
export function evidenceOf(v: View, reason: ParkReason): Evidence | undefined {
  return SHOWN[reason]?.(v);
}

const SHOWN: Readonly<Partial<Record<ParkReason, (v: View) => Evidence>>> = {
  conflict: conflictIn,
  report_refused: reportIn,
  refund_needed: neededIn,
  refund_unknown: unknownIn,
  refund_unconfirmed: (v) => ({ reference: referenceOf(v), ...v.request.shown.other }),
  refund_failed: (v) => shownCause(whyFailed(v)),
  no_settlement: (v) => ({ proven: provenIn(v) }),
  unverified_settlement: (v) => ({
    proven: provenIn(v),
    claimed: v.claimed.filter(({ meaning }) => isFinal(meaning)).map(({ of }) => brief(of.event)),
  }),
};

const provenIn = (v: View): readonly string[] => transferIn(v).statuses.seen;

function unknownIn(v: View): Evidence {
  const why = whyNotAgain(v);
  return { ...postIn(v), ...(why === null ? {} : { notAgain: why.text, code: why.code }) };
}

const referenceOf = ({ known }: View): string | undefined => known.prepared?.steps['refund']?.claim.reference;

const claimedIn = ({ claimed }: View): Evidence =>
  claimed.length === 0 ? {} : { claimed: claimed.map(({ of }) => brief(of.event)) };

function conflictIn(v: View): Evidence {
  const transfer = transferIn(v);
  const { seen } = transfer.statuses;
  const deposit = requestOf(v.known, 'deposit');
  if (!isRefund(v) && (deposit.isOther || v.post.lookup === 'other')) {
    const text = 'the deposit that the service has under this reference is another one';
    return { ...shownCause({ code: 'other_record', text }), ...deposit.shown.other, reported: seen };
  }
  const isOurs = isRefund(v) && isBegun(v.known) && !hasFailed(v);
  return {
    proven: seen,
    ...claimedIn(v),
    ...(isOurs ? { ownRefund: referenceOf(v) } : {}),
    ...shownCause(whyConflict(v)),
  };
}

const hasFailed = (v: View): boolean =>
  v.request.claim === 'rejected' ||
  v.request.claim === 'void' ||
  (v.state.kind === 'ended' && v.state.meaning !== 'succeeded');

function whyConflict(v: View): Cause {
  const transfer = transferIn(v);
  if (bridgeStateOf(transfer.statuses).kind === 'conflict')
    return { code: 'proofs_exclude_one_another', text: 'trusted events prove endings that exclude one another' };
  if (isRefunded(transfer) && !isRefund(v))
    return { code: 'own_refund_unknown', text: 'the store cannot say now whether we sent a refund, too' };
  if (isRefunded(transfer)) {
    const text = 'a refund by us may have been sent, and the service says that it was refunded: look at both';
    return { code: 'refunded_twice_maybe', text };
  }
  const text = 'an unverified event claims another ending than the one that is proven';
  return { code: 'unverified_event_against_it', text };
}

function reportIn({ known }: View): Evidence {
  const { report } = known.transfer ?? {};
  if (report == null) return {};
  const { status, kind, httpStatus, message } = report;
  return kind === 'refused' ? { status, kind, httpStatus, message } : { status, kind, message };
}

function neededIn(v: View): Evidence {
  const transfer = transferIn(v);
  const terms = refundTerms(transfer);
  const isSendable = !('code' in terms) && requestOf(v.known, 'refund').answer !== 'unsendable';
  return {
    ...shownCause(whyNoRefund(v) ?? WAITS),
    refund: isSendable ? { ...terms, receiverAddress: masked(terms.receiverAddress) } : null,
    ...knownNow(transfer),
    ...claimedIn(v),
  };
}

const WAITS: Cause = { code: 'store_unavailable', text: 'the inbox cannot be read now' };

function whyFailed(v: View): Cause {
  const { rejection, why } = v.request.shown;
  if (v.request.claim === 'rejected' && rejection !== null)
    return { code: 'refund_rejected', text: `refused by the service (${rejection.httpStatus}): ${rejection.message}` };
  if (v.state.kind === 'ended')
    return { code: 'refund_send_failed', text: `the send ended as ${v.request.words.at(-1) ?? v.state.meaning}` };
  return { code: 'refund_claim_closed', text: `the claim of the refund is ${v.request.claim}: ${why ?? ''}` };
}

const masked = (address: string): string =>
  address.length <= 12 ? '…' : `${address.slice(0, 6)}…${address.slice(-4)}`;

/** How it ended, in a sentence. */
export function detailOf(v: View, { state, reason }: End): string | undefined {
  const transfer = transferIn(v);
  if (state === 'completed') return whatArrived(transfer);
  if (state === 'refunded')
    return isRefunded(transfer)
      ? 'The service or the provider refunded it.'
      : 'Refunded by us to the fallback address.';
  if (reason === 'quote_rejected') return `${whyNoQuote(v) ?? v.known.refusal?.detail ?? ''}. Nothing was moved.`;
  if (reason !== 'failed_at_service') return undefined;
  const stage = transfer.failure?.facts['failureStage'] ?? 'not said';
  return `The transfer failed (stage: ${stage}) before any crypto was paid: no refund is due.`;
}
