import { CARD_LIFE_MS } from '../../src/protocol/task-queues.js';
import { CARD_PAUSE_MS } from '../../workflows/engine/policies.js';
import { REFUND_CONFIRM_MS as CONFIRM_MS, REFUND_WAIT_MS as THEIRS_MS } from '../../workflows/engine/policies.js';
import type { Known, Request } from '../../workflows/engine/known.js';
import { lookingAt, SETTLE_MS, type World } from './world.js';

/**
 * Two states with the same key behave alike: times are relative to now, a reading is of this turn or not, and what no
 * rule reads is left out.
 */
export function keyOf(world: World): string {
  const w = lookingAt(Object.keys(world.known.requests)[0] ?? '', world);
  const { known, nowMs } = w;
  const ahead = (ms: number): number => Math.max(0, ms - nowMs);
  const isFresh = (turn: number | undefined): boolean => turn === known.turn;
  const postKey = (post: World['post']) => [
    [
      post.claim.phase,
      post.claim.owner,
      post.claim.ordered,
      post.claim.heldBack,
      post.claim.closed,
      post.claim.refusal,
      Math.min(post.claim.turnedAway, 2),
      post.claim.sentAtMs === null ? -1 : ahead(post.claim.sentAtMs + SETTLE_MS),
    ],
    post.record,
    post.executions,
    Math.min(post.sends, 2),
    post.moreSends,
    post.flights.map(ahead).sort((a, b) => a - b),
    post.zombie,
  ];
  return JSON.stringify([
    known.input,
    known.prepared && Object.keys(known.prepared.steps),
    ahead(known.deadlineAtMs),
    Object.values(known.requests).map((one) => [
      one.claim,
      one.sent,
      one.answer,
      one.byClaim,
      one.unwritten,
      one.proofWritten,
      one.lookup && [one.lookup.says, isFresh(one.lookup.turn), one.lookup.askedAtMs >= known.deadlineAtMs],
      one.windowOver,
      [...one.words].sort(),
      one.word,
      one.saidToExist,
      ahead(one.underWayUntilMs),
      ahead(one.askUntilMs),
      one.repeat,
      one.maybeTwice,
      one.isOther,
      one.compared,
      one.paid && [
        one.paid.says,
        isFresh(one.paid.turn),
        one.paid.askedAtMs >= known.deadlineAtMs,
        one.paid.askedAtMs >= one.underWayUntilMs,
      ],
      one.unasked,
      one.byPerson,
      one.unaskable,
      one.maybeOrdered,
      one.holdBackFailed,
      (known.inbox?.askedAtMs ?? -1) >= one.underWayUntilMs,
      one.notSent && [
        ahead(one.notSent.atMs + CARD_PAUSE_MS * 2 ** (one.notSent.times - 1)),
        one.notSent.times,
        ahead(one.firstSendAtMs + CARD_LIFE_MS),
      ],
    ]),
    known.transfer && [
      isAnswered(known.requests['deposit']) || [
        known.transfer.quote && ahead(known.transfer.quote.quotedAtMs + known.transfer.quote.lifeMs),
        known.transfer.quote?.cryptoAmount,
        known.transfer.whyNone,
        known.transfer.isUsed,
        known.transfer.quotes,
        known.transfer.untaken?.times,
      ],
      known.transfer.approvedBy,
      known.transfer.reported,
      known.transfer.looked?.map(({ status, facts, atMs }) => [
        status,
        facts['failureStage'],
        status === 'FAILED' ? ahead(atMs + THEIRS_MS) : 0,
      ]),
      isFresh(known.transfer.lookedTurn),
      known.transfer.report && [known.transfer.report.eventId, known.transfer.report.kind],
      known.transfer.refund,
      known.transfer.wasAsked,
      ahead(known.transfer.waitsSinceMs + CONFIRM_MS),
      ahead(known.transfer.waitsUntilMs),
      known.events.map(({ event, atMs }) => (event.status === 'FAILED' ? ahead(atMs + THEIRS_MS) : 0)),
      ahead((known.requests['refund']?.shownAtMs ?? 0) + CONFIRM_MS),
    ],
    known.refundInvoice && [
      known.refundInvoice.given && [
        known.refundInvoice.given.paymentHash,
        ahead(known.refundInvoice.given.expiresAtMs),
      ],
      known.refundInvoice.isHandedOver,
      known.refundInvoice.handOver?.says,
      known.refundInvoice.isAwaited,
    ],
    known.inbox && [known.inbox.says, isFresh(known.inbox.turn), known.inbox.askedAtMs >= known.deadlineAtMs],
    known.stop && [
      known.stop.for,
      known.stop.says,
      isFresh(known.stop.turn),
      known.stop.order !== null && isOpen(known, known.stop.order),
    ],
    known.events.map(({ event, said, atMs }) => [event.id, said, ahead(atMs + known.graceMs)]),
    known.orders
      .filter(isOfWeight)
      .map((one) => [
        one.action,
        one.eventId,
        one.parkedSinceMs === known.parked?.sinceMs,
        one.result,
        one.became,
        one.cannotTell,
      ]),
    known.running.map((step) => [
      step.id.replace(/ \d+/, isFresh(step.turn) ? ' now' : ' old').replace(/order .*/, 'order'),
      (step.beganAtMs ?? 0) >= known.deadlineAtMs,
      step.do === 'send' || step.do === 'void' || step.do === 'last-word' ? step.reviewed : 0,
      step.unasked,
    ]),
    known.parked && [
      known.parked.reason,
      known.parked.about,
      known.parked.actions,
      known.parked.endings,
      known.parked.cannotTell,
    ],
    w.end,
    postKey(w.post),
    Object.values(w.besides).map(postKey),
    w.attempt,
    w.inbox.map(({ id }) => id),
    w.delivered,
    w.slow.length === 0 ? 0 : w.read,
    w.slow.map(({ step, result }) => [step.do, isFresh(step.turn), result]),
    w.wrong,
  ]);
}

/** For good: no quote is read any more. */
const isAnswered = (deposit: Request | undefined): boolean =>
  deposit?.claim === 'answered' || deposit?.claim === 'rejected';

const isOpen = ({ orders }: Known, id: string): boolean => orders.some((one) => one.id === id && one.became === null);

/** Of orders that have a reply, only those that rules read again. */
const isOfWeight = ({ became, action, result }: Known['orders'][number]): boolean =>
  became === null || action === 'close-not-executed' || result === 'closed';
