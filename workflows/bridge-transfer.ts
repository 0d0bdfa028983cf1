import { FAILURE_GRACE_MS, LIVE_FIRST_LOOK_MS, UNTAKEN_PAUSE_MOST_MS, UNTAKEN_PAUSE_MS } from './engine/policies.js';
import type { Cause } from '../src/protocol/causes.js';
import { refundRefusal } from '../src/protocol/decisions.js';
import { PAYMENT_WORDS, type StatusMap } from '../src/protocol/statuses.js';
import type { ParkAction, ParkReason } from '../src/protocol/vocabulary.js';
import { refuse } from './engine/orders.js';
import type { Request } from './engine/known.js';
import type { OrderRule, Ordered, Plan, Rule, View, Situation } from './engine/plan.js';
import {
  askOn,
  endUnmoved,
  isSought,
  lookAtStatus,
  readInbox,
  readInboxOn,
  step,
  stop,
  takenBack,
} from './engine/situation.js';
import { detailOf, evidenceOf } from './bridge/evidence.js';
import { sendDeposit, sendRefund } from './bridge/perform.js';
import { isQuoted, quotedTerms, whyNoNewQuote, whyNoQuote } from './bridge/quotes.js';
import {
  CLAIM_CLOSED,
  depositLookedUpAs,
  factsOfRefund,
  isBegun,
  isOwed,
  isRefund,
  isRefundDue,
  isUnconfirmed,
  knownNow,
  lookUpAs,
  REFUND_RULES,
  theirsOverAtMs,
  transferIn,
  voidRefund,
  whyNoRefund,
  whyNotAgain,
  whyNotRepeated,
} from './bridge/refund.js';
import { refundTerms } from './bridge/refund-terms.js';
import { REPORT } from './bridge/report.js';
import { tells } from './bridge/tells.js';
import {
  amountDiffers,
  claimsMore,
  endEvidence,
  endStepOf,
  factsOfDeposit,
  factsOfRecord,
  inputOf,
  isRefunded,
  theirsBegun,
  transferOf,
} from './bridge/transfer.js';
import { requestOf } from './engine/view.js';

const DEPOSIT_RULES: readonly Rule[] = [
  {
    name: 'approval',
    says: 'The quote waits for its approval.',
    when: (v) => isFirstSend(v) && awaitsApproval(v),
    follows: (v) => ({ steps: [], wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'no-quote',
    says: 'There is no quote within the limits: nothing is sent, and that is the end.',
    when: (v) => isFirstSend(v) && whyNoQuote(v) !== null,
    follows: (v) => stop(v, 'no-quote'),
  },
  {
    name: 'no-quote-again',
    says: 'Another send was ordered, and there is no quote for it: the order is taken back.',
    when: (v) => isOrderedAgain(v) && whyNoQuote(v) !== null,
    follows: takenBack,
  },
  {
    name: 'untaken-pause',
    says: 'No worker took the deposit while its quote was young: it is quoted again after a pause.',
    when: (v) => (isFirstSend(v) || isOrderedAgain(v)) && v.nowMs < nextAtMs(v),
    follows: (v) => ({ steps: [], wakeAtMs: Math.min(nextAtMs(v), v.known.deadlineAtMs) }),
  },
  {
    name: 'quote',
    says: 'A deposit is sent within the life of a quote: one that is too old is made again.',
    when: (v) => (isFirstSend(v) || isOrderedAgain(v)) && !isQuoted(v),
    follows: (v) => ({
      steps: [step('quote', v.requestPlan.name, v.known.transfer?.quotes ?? 0)],
      wakeAtMs: v.known.deadlineAtMs,
    }),
  },
];

const SETTLEMENT: readonly Rule[] = [
  {
    name: 'settlement-conflict',
    says: 'Endings that exclude one another are proven, or an untrusted event stands against a failure that owes nothing: a person decides.',
    when: (v) => isFollowed(v) && endStepOf(transferIn(v)).do === 'park',
    follows: () => ({ steps: [], park: 'conflict' }),
  },
  { ...REPORT, when: (v) => isFollowed(v) && REPORT.when(v) },
  {
    name: 'settled',
    says: 'A proven completion, or a refund by the service or the provider, is the end; no refund of ours can be sent any more.',
    when: (v) => isFollowed(v) && isSettled(v),
    follows: (v) => {
      const isTheirs = isRefunded(transferIn(v));
      // A completion that no failure was proven before has no refund of ours beside it; an earlier run may have begun one.
      const mayHaveOurs = isTheirs || v.known.transfer?.wasAsked === true;
      const end: Situation = { steps: [], end: { state: isTheirs ? 'refunded' : 'completed', reason: null } };
      return (mayHaveOurs ? voidRefund(v) : null) ?? end;
    },
  },
  {
    name: 'failure-unconfirmed',
    says: 'Events report a failure, and the live lookup, which is asked at once, shows another status: it is followed until the deadline, for one of both is late.',
    when: (v) => isFollowed(v) && hasFailed(v) && isUnconfirmed(v) && !(v.is.overdue && isOwed(v)),
    follows: (v) => {
      if (!v.is.looked) return { steps: [lookAtStatus(v)], isCheck: true };
      if (v.is.overdue && !v.is.lookedAtDeadline) return { steps: [readInbox(v), lookAtStatus(v)], isCheck: true };
      return v.is.overdue
        ? { steps: askOn(v), park: 'no_settlement' }
        : { steps: askOn(v), wakeAtMs: v.known.deadlineAtMs };
    },
  },
  {
    name: 'failed-owing-nothing',
    says: 'It failed before any crypto was paid: that is the end, after a while without contradiction.',
    when: (v) => isFollowed(v) && endStepOf(transferIn(v)).do === 'end',
    follows: (v) => {
      if (v.is.inGrace) return { steps: [], wakeAtMs: v.graceUntilMs };
      const mayHaveOurs = v.known.transfer?.wasAsked === true;
      return (mayHaveOurs ? voidRefund(v) : null) ?? endUnmoved(v, 'failed', 'failed_at_service');
    },
  },
  {
    name: 'theirs',
    says: 'It failed, and a refund is or may be due: the service has the time that it named to make it.',
    when: (v) => isFollowed(v) && isOwed(v) && v.nowMs < theirsOverAtMs(v, transferIn(v)) && !v.is.overdue,
    follows: (v) => ({
      steps: askOn(v),
      wakeAtMs: Math.min(theirsOverAtMs(v, transferIn(v)), v.known.deadlineAtMs),
    }),
  },
  {
    name: 'owed-inbox',
    says: 'Their time is over: what has come since decides, so that the inbox is read first, and the live lookup asked.',
    when: (v) => isFollowed(v) && isOwed(v) && !(v.is.inboxAsked && v.is.looked),
    follows: (v) => ({
      steps: [...(v.is.inboxAsked ? [] : [readInbox(v)]), ...(v.is.looked ? [] : [lookAtStatus(v)])],
      isCheck: true,
    }),
  },
  {
    name: 'refund-needed',
    says: 'A refund is or may be due, and we may not send it by ourselves: a person decides, on these figures.',
    when: (v) => isFollowed(v) && isOwed(v),
    follows: (v) => ({
      steps: [...(v.is.inboxRead ? [] : [readInboxOn(v)]), ...askOn(v)],
      park: 'refund_needed',
      about: aboutRefund(v),
    }),
  },
];

/** The first list has what comes before its answer; the deposit is followed once that is known. */
const isFollowed = (v: View): boolean => !isRefund(v) && v.executed === 'shown' && v.send === undefined;

/** If anything of this changes, it is another question. */
function aboutRefund(v: View): string {
  const transfer = transferIn(v);
  const terms = refundTerms(transfer);
  const { cryptoPaid, theirRefund } = knownNow(transfer);
  const amount = 'code' in terms ? terms.code : terms.cryptoAmount;
  const why = whyNoRefund(v)?.code ?? '';
  // As time passes this alone becomes that.
  const isOfTime = why === 'service_may_refund' || why === 'refund_not_automatic';
  return [cryptoPaid, theirRefund ?? '', amount, isOfTime ? '' : why].join(' ');
}

const hasFailed = (v: View): boolean => {
  const now = endStepOf(transferIn(v));
  return now.do === 'refund' || (now.do === 'end' && now.as === 'failed');
};

const isSettled = (v: View): boolean => {
  const now = endStepOf(transferIn(v));
  return now.do === 'end' && now.as !== 'failed';
};

const isFirstSend = (v: View): boolean =>
  !isRefund(v) && v.postStep.do === 'send' && v.request.claim !== 'ordered' && !OF_NO_SEND.includes(v.request.answer);
/** These have rules of their own, whatever became of the quote. */
const OF_NO_SEND: readonly Request['answer'][] = ['other-request', 'held-back'];
const isOrderedAgain = (v: View): boolean => !isRefund(v) && v.request.claim === 'ordered';

const awaitsApproval = ({ known }: View): boolean =>
  known.prepared !== null && inputOf(known).approval !== 'none' && known.transfer?.approvedBy == null;

/** Each pause is twice as long as the one before. */
function nextAtMs({ known }: View): number {
  const untaken = known.transfer?.untaken ?? null;
  if (untaken === null) return 0;
  const pauseMs = Math.min(UNTAKEN_PAUSE_MS * 2 ** (untaken.times - 1), UNTAKEN_PAUSE_MOST_MS);
  return untaken.atMs + Math.max(1, Math.ceil(pauseMs * known.timeScale));
}

const ORDER_RULES: readonly OrderRule[] = [
  {
    name: 'approval-refused',
    says: 'An approval is refused if none is awaited, or while the flow is being stopped.',
    when: ({ v, order }) => order.action === 'approve-quote' && whyNoApproval(v) !== null,
    follows: (o) => refuse(o, whyNoApproval(o.v) ?? NOT_AWAITED),
  },
  {
    name: 'approval-taken',
    says: 'An approval is taken once.',
    when: ({ order }) => order.action === 'approve-quote',
    follows: ({ order }) => ({ says: { is: 'carried-out', order: order.id } }),
  },
];

function whyNoApproval(v: View): Cause | null {
  if (v.known.prepared === null || !awaitsApproval(v) || v.executed === 'shown' || v.request.claim === 'void')
    return NOT_AWAITED;
  return v.is.overdue || v.known.parked !== null ? STOPPED : null;
}

const NOT_AWAITED: Cause = { code: 'approval_not_awaited', text: 'The flow waits for no approval of a quote.' };
const STOPPED: Cause = { code: 'flow_stopped', text: 'The flow was stopped before it took the approval.' };

/** What stands against an order about a refund of ours. */
function whyNot({ v, order }: Ordered): Cause | null {
  if (order.action === 'send-again' && isRefund(v)) return whyNotAgain(v);
  if (order.action !== 'refund-now') return null;
  const transfer = transferIn(v);
  const terms = refundTerms(transfer);
  if ('code' in terms) return terms;
  if (requestOf(v.known, 'refund').claim === 'void') return CLAIM_CLOSED;
  const evidence = { ...endEvidence(transfer), termsStand: true, theirsBegun: theirsBegun(transfer) };
  return refundRefusal({ ...evidence, by: 'person' });
}

/** What would come to nothing is not offered. */
function impossible(v: View, reason: ParkReason): readonly ParkAction[] {
  if (reason === 'refund_unknown' && whyNotAgain(v) !== null) return ['send-again'];
  return reason === 'refund_needed' && requestOf(v.known, 'refund').claim === 'void' ? ['refund-now'] : [];
}

const BRIDGE_WORDS: StatusMap = {
  DEPOSIT_INITIATED: 'pending',
  DEPOSIT_CONFIRMED: 'pending',
  PAYMENT_SENT: 'collected',
  PAYMENT_CONFIRMED: 'collected',
  SETTLING: 'collected',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  REFUNDED: 'refunded',
};

/**
 * A bridge transfer: quote → (approval) → deposit → settlement → done or refund. The customer pays fiat to the service,
 * the service pays our crypto invoice, and the settlement provider pays the recipient.
 */
export const bridgeTransferPlan: Plan = {
  kind: 'bridge-transfer',
  noun: 'the transfer',
  words: BRIDGE_WORDS,
  firstLookMs: LIVE_FIRST_LOOK_MS,
  graceMs: FAILURE_GRACE_MS,
  check: 'checkBridgeTransfer',
  requests: [
    {
      name: 'deposit',
      operation: 'createBridgeDeposit',
      noun: 'the deposit',
      lookUp: 'live',
      // A settlement is reported by the provider first.
      provenByEvents: true,
      keepsRecord: true,
      lookUpAs: depositLookedUpAs,
      factsOf: factsOfDeposit,
      factsOfRecord,
      alsoDiffers: (known, theirs) => (amountDiffers(inputOf(known), theirs) ? ['amount'] : []),
      claimsMore,
      send: sendDeposit,
      sending: { stage: 'depositing', code: 'sending' },
      // What its claim holds says what a refund is.
      isOver: (v) => !isSought(v) && (isBegun(v.known) || isRefundDue(v)),
    },
    {
      name: 'refund',
      operation: 'sendCrypto',
      noun: 'the refund',
      lookUp: 'own',
      words: PAYMENT_WORDS,
      eventsOf: 'deposit',
      factsOf: factsOfRefund,
      send: sendRefund,
      sending: { stage: 'refunding', code: 'sending-refund', accepted: 'refund-accepted' },
      lookUpAs,
      mayNotRepeat: (v) => whyNotRepeated(v) !== null,
      unknownAs: 'refund_unknown',
      overdueAs: 'refund_unconfirmed',
      closedAs: 'closed_by_person',
      debtOf: (v) => {
        const terms = refundTerms(transferIn(v));
        const by = v.known.transfer?.refund?.by ?? 'input';
        const cryptoAmount = 'code' in terms ? null : terms.cryptoAmount;
        return { by, cryptoAmount, hadTheirsBegun: theirsBegun(transferIn(v)) };
      },
    },
  ],
  rules: [...DEPOSIT_RULES, ...REFUND_RULES],
  settlement: SETTLEMENT,
  derive: transferOf,
  orderRules: ORDER_RULES,
  whyNot,
  whyNotMade: whyNoNewQuote,
  whyNoApproval,
  termsOf: quotedTerms,
  serviceReferenceOf: (answer) =>
    (answer as { readonly kotani_reference_id?: string } | null)?.kotani_reference_id ?? null,
  shownFacts: (known) => {
    const { amount, source_currency: currency, settlement } = inputOf(known);
    const both = `${amount} ${currency}, ${settlement.amount} ${settlement.currency}`;
    return { ...factsOfDeposit(known), amount: both };
  },
  impossible,
  evidenceOf,
  detailOf,
  tells,
};
