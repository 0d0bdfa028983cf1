import type { ClaimRef } from '../../activities/types.js';
import type { ClaimSays, LookupSays, SentBefore } from '../../src/protocol/decisions.js';
import { openedIdOf } from '../../src/protocol/events.js';
import { isOneWordTooMany } from '../../src/protocol/statuses.js';
import {
  NOT_SENT,
  PLAIN_SEND,
  type Answer,
  type ClaimReading,
  type Event,
  type Input,
  type Known,
  type NewOrder,
  type Request,
  type Result,
  type Step,
} from './known.js';
import {
  agreed,
  beganDebt,
  heardBefore,
  orderedAgain,
  questioned,
  quoted,
  reported,
  sentUnder,
  tookRecord,
} from '../bridge/learn.js';
import { carriedOut, handedOver, NO_INVOICE, unusedInvoices, withOrder } from './learn-orders.js';
import { compared, paid, withRequest } from './learn-paid.js';
import { noAnswer } from './learn-unanswered.js';
import { inNewTurn, leaveEvents, takeEvents } from './take-events.js';
import { mayBeSent } from './view.js';

/** Adds one input to what is known. It judges nothing, and never throws. */
export function learn(known: Known, input: Input, nowMs: number): Known {
  switch (input.is) {
    case 'event':
      return takeEvents(known, [input.event], nowMs);
    case 'order':
      return takeOrder(known, input.order);
    case 'began':
      return began(known, input.step, nowMs);
    case 'cancelled':
      return gaveUp(without(known, input.step), input.step, nowMs);
    case 'result':
      return takeResult(without(known, input.step), input.step, input.result, nowMs);
    case 'carried-out':
      return carriedOut(known, input.order, nowMs);
    case 'refused':
      return withOrder(known, input.order, { became: 'refused', why: input.why });
    case 'shown': {
      if (input.question === null) return { ...known, parked: null };
      const sinceMs = Math.max(nowMs, known.askedSinceMs + 1);
      const next = { ...known, parked: { ...input.question, sinceMs }, askedSinceMs: sinceMs };
      return questioned(next, input.question);
    }
    default:
      return input satisfies never;
  }
}

/** Orders that are done with, and that are kept. */
const MAX_ORDERS = 20;

const without = (known: Known, step: Step): Known => ({
  ...known,
  running: known.running.filter(({ id }) => id !== step.id),
});

function takeOrder(known: Known, order: NewOrder): Known {
  if (known.orders.some(({ id }) => id === order.id)) return known;
  const done = known.orders.filter(({ became }) => became !== null);
  const dropped = done.slice(0, Math.max(0, done.length + 1 - MAX_ORDERS));
  const { request = '', cannotTell = false } = known.parked ?? {};
  const orders = [
    ...known.orders.filter((one) => !dropped.includes(one)),
    { ...order, request, cannotTell, result: null, became: null, why: null },
  ];
  return inNewTurn({ ...known, orders });
}

function began(known: Known, step: Step, nowMs: number): Known {
  // An untrusted event is against a repeat that no person ordered, so it never counts as judged for a send.
  // Who orders one has seen those, and what the store counts as proven may prove nothing of this payment.
  const isOrdered = known.requests[step.request]?.byPerson === true;
  const isReviewed = ({ event }: Event): boolean =>
    event.trusted || step.do !== 'send' || step.debt !== undefined || isOrdered;
  const reviewed = known.events.filter(isReviewed);
  const ids = reviewed.map(({ event }) => openedIdOf(event.id));
  const notTaken = step.do === 'void' ? known.notTaken : [];
  const { firstSendAtMs = 0 } = known.requests[step.request] ?? {};
  const next =
    step.do === 'send' && firstSendAtMs === 0 ? withRequest(known, step.request, { firstSendAtMs: nowMs }) : known;
  return {
    ...beganDebt(next, step, nowMs),
    running: [...next.running, { ...step, beganAtMs: nowMs, reviewed: [...ids, ...notTaken] }],
  };
}

/** A send that is not awaited any more may have been sent. */
function gaveUp(known: Known, step: Step, nowMs: number): Known {
  // The store may have carried it out.
  if (step.do === 'order-send')
    return inNewTurn(withRequest(known, step.request, { repeat: 'unknown', maybeOrdered: true }));
  if (step.do === 'hand-over') return handedOver(known, { says: 'unknown', why: GIVEN_UP }, nowMs);
  if (step.do !== 'send') return known;
  const shown = { why: known.requests[step.request]?.shown.why ?? GIVEN_UP };
  return sent(known, step.request, { answer: 'given-up', isRepeat: false, sent: null, shown }, nowMs);
}

const GIVEN_UP = 'nothing was known of it at the deadline';

function takeResult(known: Known, step: Step, result: Result, nowMs: number): Known {
  const { turn, request } = step;
  const askedAtMs = step.beganAtMs ?? nowMs;
  switch (result.of) {
    case 'check':
      return heardBefore(agreed(checked(known, result, nowMs), result.quote, askedAtMs), result.events);
    case 'send': {
      const next = sentUnder(sent(known, request, result, nowMs), step, result, nowMs);
      return result.paid === undefined ? next : paid(next, request, result.paid, { askedAtMs: nowMs, turn });
    }
    case 'unsendable':
      if (step.debt !== undefined) {
        const unsent = { ...PLAIN_SEND, answer: 'unsendable', shown: { why: result.refusal?.detail ?? null } } as const;
        return sentUnder(sent(known, request, unsent, nowMs), step, unsent, nowMs);
      }
      return inNewTurn({ ...known, input: 'invalid', refusal: result.refusal });
    case 'ask':
    case 'look':
      return lookedUp(known, step, result, askedAtMs);
    case 'follow':
      return tookRecord(followed(known, step, result, askedAtMs), step, result, askedAtMs);
    case 'read-inbox':
      // If it brought something new, a new turn has begun, and it was not the last reading.
      return { ...takeEvents(known, result.events, nowMs), inbox: { says: 'read', askedAtMs, turn } };
    case 'void':
      return voided(known, step, result, nowMs);
    case 'write-answer':
      return wroteAnswer(known, request);
    case 'order-send':
      return orderedSend(known, step, result);
    case 'take-back':
      return tookBack(known, request, result, nowMs);
    case 'close': {
      const found = foundSince(known.requests[request] ?? NOT_SENT, result.claim);
      const next = withRequest(known, request, { ...found, sent: result.sent });
      return inNewTurn(withOrder(next, step.order, { result: result.claim === 'void' ? 'void' : 'not-void' }));
    }
    case 'quote':
      return quoted(known, result, askedAtMs);
    case 'report':
      return reported(known, step, result);
    case 'compare':
      return compared(known, request, result.other);
    case 'paid':
      return paid(known, step.request, result, { askedAtMs, turn });
    case 'check-invoice': {
      const { given, why } = result;
      const next = withOrder(known, step.order, { result: given === null ? 'not-taken' : 'taken', why });
      return inNewTurn(
        given === null ? next : { ...next, refundInvoice: { ...NO_INVOICE, given, earlier: unusedInvoices(known) } },
      );
    }
    case 'hand-over':
      return handedOver(known, result, nowMs);
    case 'last-word':
      // What it was read for is not so any more.
      return inNewTurn(
        withOrder(result.isClosed ? known : { ...known, inbox: null }, step.order, {
          result: result.isClosed ? 'closed' : 'not-closed',
          why: result.why,
        }),
      );
    case 'cannot-ask': {
      const next = withRequest(noAnswer(known, step, askedAtMs), request, { unaskable: result.why });
      // It comes again each time: only the first one is news.
      return known.requests[request]?.unaskable === null ? inNewTurn(next) : next;
    }
    case 'no-answer':
      return noAnswer(known, step, askedAtMs);
    default:
      return result satisfies never;
  }
}

/** An earlier run of the flow may have sent: what its claims say comes with the check. */
function checked(
  known: Known,
  { prepared, refusal, claims, events }: Extract<Result, { of: 'check' }>,
  nowMs: number,
): Known {
  const settleMs = prepared === null ? known.settleMs : Math.ceil(prepared.windows.settleMs * known.timeScale);
  const next = inNewTurn({ ...known, prepared, refusal, settleMs, input: refusal === null ? 'valid' : 'invalid' });
  const read = Object.entries(claims).reduce((now, [name, found]) => readFirst(now, name, found, nowMs), next);
  return takeEvents(read, events, nowMs);
}

export const OTHER_REQUEST =
  'Another request was made under this reference before. Nothing was sent for this one; check that flow first.';
const OF_ANOTHER = { why: OTHER_REQUEST };
const ANSWER_OF = { answered: 'accepted', rejected: 'rejected', void: 'void', sending: 'unknown' } as const;

/** What the store says of a claim that this run has not sent under: what was sent is unknown until it is known. */
function readFirst(
  known: Known,
  name: string,
  { claim, sent: sentBefore, repeat, isOther }: ClaimReading,
  nowMs: number,
): Known {
  if (isOther === true && claim === 'free')
    return sent(known, name, { answer: 'other-request', isRepeat: false, sent: 'nothing', shown: OF_ANOTHER }, nowMs);
  const next = withRequest(known, name, {
    sent: sentBefore,
    maybeTwice: sentBefore === 'unknown',
    ...(isOther ? { isOther } : {}),
  });
  if (claim === 'free' || claim === 'reserved' || claim === 'ordered') return withRequest(next, name, { claim });
  return sent(
    next,
    name,
    {
      answer: ANSWER_OF[claim],
      isRepeat: false,
      sent: sentBefore,
      byClaim: true,
      shown: { why: 'an earlier run of the flow began to send it' },
      ...(repeat === undefined ? {} : { repeat }),
    },
    nowMs,
  );
}

const CLAIM_AFTER = {
  accepted: 'answered',
  rejected: 'rejected',
  void: 'void',
  unknown: 'sending',
  duplicate: 'sending',
  'held-back': 'reserved',
  'given-up': 'sending',
  'other-request': 'free',
  'not-sent': 'reserved',
  gone: 'reserved',
  'done-elsewhere': 'reserved',
  'quote-expired': 'reserved',
  unsendable: 'reserved',
} as const satisfies Record<Answer, Request['claim']>;

/** This attempt has sent nothing: of an earlier one that says nothing. */
const UNSENT: readonly Answer[] = ['gone', 'not-sent', 'done-elsewhere', 'quote-expired', 'unsendable'];

type Sent = Pick<Extract<Result, { of: 'send' }>, 'answer' | 'isRepeat' | 'sent'> &
  Partial<Extract<Result, { of: 'send' }>> & { readonly byClaim?: true };

function sent(known: Known, name: string, result: Sent, nowMs: number): Known {
  const before = known.requests[name];
  if (before === undefined) return known;
  // Voided before it was marked: no attempt of it has sent, or can.
  const isVoid = before.claim === 'void' && before.sent === 'nothing';
  if (isVoid && (UNSENT.includes(result.answer) || result.answer === 'given-up'))
    return inNewTurn(withRequest(known, name, { answer: 'void' }));
  // The claim is known to have been marked: whatever this attempt did, something may have been sent.
  const isMarked = before.claim !== 'free' && before.claim !== 'reserved';
  const isOverruled = isMarked && UNSENT.includes(result.answer);
  const answer = isOverruled ? 'unknown' : result.answer;
  // Another send that was ordered stays so until it is taken back; and what is known of a claim is not unlearnt.
  const isKept = isOverruled || (answer === 'given-up' && isMarked);
  const staysOrdered = answer === 'held-back' && before.claim === 'ordered';
  const claim = isKept || staysOrdered ? before.claim : CLAIM_AFTER[answer];
  const { times = 0 } = before.notSent ?? {};
  const mayBeUnderWay = answer === 'unknown' || (answer === 'given-up' && claim !== 'void');
  const isAsked = mayBeUnderWay || answer === 'duplicate';
  return inNewTurn(
    withRequest(known, name, {
      claim,
      answer,
      byClaim: result.byClaim ?? false,
      unwritten: result.unwritten ?? false,
      sent: result.sent ?? sentAfter(before.sent, answer),
      saidToExist: before.saidToExist || answer === 'duplicate',
      // If the service said that it knows the reference, or if nothing was sent, nothing is under way.
      underWayUntilMs: mayBeUnderWay ? nowMs + known.settleMs : nowMs,
      askUntilMs: isAsked ? nowMs + known.settleMs : nowMs,
      repeat: result.repeat ?? 'unknown',
      maybeTwice:
        before.maybeTwice || result.isRepeat || answer === 'unknown' || answer === 'duplicate' || answer === 'given-up',
      isOther: before.isOther || result.isOther === true,
      shownAtMs: before.shownAtMs ?? (claim === 'answered' ? nowMs : null),
      notSent: answer === 'not-sent' ? { times: times + 1, atMs: nowMs, afterMs: result.afterMs ?? 0 } : before.notSent,
      shown: { ...before.shown, ...result.shown },
    }),
  );
}

const LEFT_NOTHING: readonly Answer[] = ['held-back', 'other-request', 'rejected', ...UNSENT];
const sentAfter = (before: SentBefore, answer: Answer): SentBefore =>
  LEFT_NOTHING.includes(answer) ? before : 'unknown';

/**
 * Only what proves something begins a new turn: a lookup that now cannot tell and now shows nothing would begin one each
 * time.
 */
function lookedUp(known: Known, step: Step, found: Extract<Result, { of: 'ask' | 'look' }>, askedAtMs: number): Known {
  const before = known.requests[step.request];
  if (before === undefined) return known;
  const claim = claimAfter(before, found.claim);
  const says = stillShown(before, found.lookup);
  const isNewWord =
    says !== before.lookup?.says && [says, before.lookup?.says].some((one) => one === 'other' || one === 'shown');
  const isProof =
    claim !== before.claim ||
    isNewWord ||
    (found.isOther && !before.isOther) ||
    before.unaskable !== stillUnaskable(before, found.lookup);
  const next = withRequest(known, step.request, {
    claim,
    lookup: asReading(before, step, says, askedAtMs, isProof),
    shownAtMs: before.shownAtMs ?? (claim === 'answered' || says === 'shown' ? askedAtMs : null),
    windowOver: before.windowOver || found.windowOver,
    byClaim: false,
    unaskable: stillUnaskable(before, found.lookup),
    isOther: before.isOther || found.isOther,
    shown: { ...before.shown, ...found.shown },
  });
  return isProof ? inNewTurn(next) : next;
}

/**
 * The flow knows of a send that may have been executed: a claim that was handed back, or that is lost with its store,
 * leaves that open. Another send that was ordered, and a claim that is closed, change by their own steps only.
 */
function claimAfter(before: Request, found: Request['claim']): Request['claim'] {
  if (before.claim === 'ordered') return before.claim;
  if (found === 'answered' || found === 'rejected' || found === 'void') return found;
  const isUnsent = before.claim === 'free' || before.claim === 'reserved';
  if (isUnsent && !mayBeSent(before) && (found === 'free' || found === 'reserved')) return before.claim;
  return before.claim === 'answered' || before.claim === 'void' || before.claim === 'rejected'
    ? before.claim
    : 'sending';
}

/** What the lookup has shown it does not take back by being silent. */
function stillShown({ lookup }: Request, says: LookupSays): LookupSays {
  if (lookup?.says === 'other' && says === 'cannot-tell') return 'other';
  return lookup?.says === 'shown' && says !== 'other' ? 'shown' : says;
}

/** What could not be asked can be once it has answered. */
const stillUnaskable = ({ unaskable }: Request, says: LookupSays): string | null =>
  says === 'cannot-tell' ? unaskable : null;

/** If it brought something new, a new turn begins, and it was not the last reading. */
const asReading = ({ lookup }: Request, step: Step, says: LookupSays, askedAtMs: number, isProof: boolean) => ({
  says,
  askedAtMs,
  turn: isProof ? step.turn : Math.max(step.turn, lookup?.turn ?? 0),
});

function followed(known: Known, step: Step, found: Extract<Result, { of: 'follow' }>, askedAtMs: number): Known {
  const before = known.requests[step.request];
  if (before === undefined) return known;
  const { word } = found;
  const isNew = word !== null && !before.words.includes(word) && !isOneWordTooMany(before.words, word);
  const isOther = before.isOther || found.lookup === 'other';
  const isProof = isNew || isOther !== before.isOther || before.unaskable !== stillUnaskable(before, found.lookup);
  const says = isOther ? 'other' : stillShown(before, found.lookup);
  const next = withRequest(known, step.request, {
    lookup: asReading(before, step, says, askedAtMs, isProof),
    words: isNew ? [...before.words, word] : before.words,
    word: word ?? before.word,
    unaskable: stillUnaskable(before, found.lookup),
    isOther,
    shown: { ...before.shown, ...found.shown },
  });
  return isProof ? inNewTurn(next) : next;
}

function voided(known: Known, step: Step, result: Extract<Result, { of: 'void' }>, nowMs: number): Known {
  const { turn, stop: end = 'expired', order = null } = step;
  const read: Known = {
    ...leaveEvents(takeEvents(known, result.events, nowMs), result.events),
    inbox: { says: 'read', askedAtMs: step.beganAtMs ?? nowMs, turn },
    stop: { for: end, says: result.isDone ? 'done' : 'not-done', turn, order },
  };
  const next = Object.entries(result.claims).reduce((now, [name, found]) => {
    const before = now.requests[name];
    if (before === undefined) return now;
    if (before.claim === found.claim) {
      return before.sent === found.sent ? now : inNewTurn(withRequest(now, name, { sent: found.sent }));
    }
    if (found.claim === 'void') return withRequest(now, name, found);
    // Its own send tells how that went.
    if (now.running.some((one) => one.do === 'send' && one.request === name))
      return inNewTurn(withRequest(now, name, { ...found, byClaim: holdsAnswer(found.claim) }));
    // What turns out to have been sent is followed from now on.
    const isNew = before.claim === 'free' || before.claim === 'reserved';
    return isNew ? readFirst(inNewTurn(withTerms(now, name, result.refs?.[name])), name, found, nowMs) : now;
  }, read);
  // It was tried for as long as the store was away: that nobody had paid before says nothing any more.
  const isOld = step.isParked === true && Object.values(known.requests).some((one) => one.paid !== null);
  return isOld && result.isDone ? inNewTurn({ ...next, stop: null }) : next;
}

/** What an earlier run was ordered to send is asked about by its claim. */
function withTerms(known: Known, name: string, claim: ClaimRef | undefined): Known {
  const { prepared } = known;
  const [first] = Object.values(prepared?.steps ?? {});
  if (prepared === null || first === undefined || claim === undefined || name in prepared.steps) return known;
  const terms = { claim, facts: first.facts, fixed: {} };
  return { ...known, prepared: { ...prepared, steps: { ...prepared.steps, [name]: terms } } };
}

function wroteAnswer(known: Known, name: string): Known {
  const before = known.requests[name];
  if (before === undefined) return known;
  if (before.unwritten) return inNewTurn(withRequest(known, name, { unwritten: false }));
  return inNewTurn(withRequest(known, name, { proofWritten: true, claim: 'answered', sent: 'unknown' }));
}

function orderedSend(known: Known, step: Step, result: Extract<Result, { of: 'order-send' }>): Known {
  const { isTaken, claim, sent: sentBefore, why = null } = result;
  const next = withOrder(known, step.order, { result: isTaken ? 'taken' : 'not-taken', why });
  if (!isTaken) return inNewTurn(withRequest(next, step.request, { repeat: 'unknown' }));
  const before = known.requests[step.request];
  // Meanwhile it was shown that the service has it: the order is taken back, and what was shown stays.
  if (before?.claim === 'answered' || before?.lookup?.says === 'shown' || before?.lookup?.says === 'other')
    return inNewTurn(claim === 'ordered' ? withRequest(next, step.request, { claim, sent: sentBefore }) : next);
  const unasked = known.orders.some(({ id, cannotTell }) => id === step.order && cannotTell);
  const byPerson = step.order !== undefined;
  const open = { claim, sent: sentBefore, answer: null, windowOver: false, lookup: null, unasked, byPerson } as const;
  return inNewTurn(withRequest(orderedAgain(next), step.request, open));
}

const holdsAnswer = (claim: ClaimSays): boolean => claim === 'answered' || claim === 'rejected';

/** A claim that may have been sent under, as the store has it: its answer is in the claim, or its outcome is open. */
function foundSince(before: Request, claim: ClaimSays): Partial<Request> {
  if (claim === 'free' || claim === 'reserved') return { claim: 'sending' };
  const isNew = claim !== before.claim && holdsAnswer(claim);
  return isNew ? { claim, byClaim: true, lookup: null } : { claim };
}

/** Of an attempt that had marked it already, the POST may be under way; not of an order that the store did not confirm. */
function tookBack(known: Known, name: string, { claim, sent: sentBefore }: ClaimReading, nowMs: number): Known {
  const before = known.requests[name] ?? NOT_SENT;
  const untilMs = claim === 'sending' ? nowMs + known.settleMs : nowMs;
  const { underWayUntilMs, askUntilMs } = before.maybeOrdered
    ? before
    : { underWayUntilMs: untilMs, askUntilMs: untilMs };
  return inNewTurn(
    withRequest(known, name, {
      ...foundSince(before, claim),
      sent: sentBefore,
      answer: 'unknown',
      // What was taken back is not ordered again by the setting.
      repeat: 'unknown',
      maybeTwice: before.maybeTwice || sentBefore === 'unknown',
      maybeOrdered: false,
      holdBackFailed: false,
      underWayUntilMs,
      askUntilMs,
    }),
  );
}
