import {
  begun as begunAttempt,
  marksAtOnce,
  MISSES,
  nextOf,
  repeatOf,
  type Attempt,
  type Heard,
  type PostSays,
} from '../../src/protocol/attempt.js';
import { after, isRepeat, sentOf, whyNotMarked, type Operation } from '../../src/protocol/claim-table.js';
import { PLAIN_SEND, type Answer, type Step } from '../../workflows/engine/known.js';
import { DEPOSIT_ANSWER } from './bridge.js';
import { executed, type Here } from './here.js';
import { mayNameNothing, missOf, NAMELESS, paidNow, trueLookup } from './step-moves.js';
import {
  abandoned,
  hasUnjudged,
  isBridge,
  isLookup,
  OWNER,
  requestPlanOf,
  SETTLE_MS,
  store,
  termsOf,
  type World,
} from './world.js';

/** Writes that an attempt makes after what it heard. */
const WRITES: Readonly<Partial<Record<Attempt['does'], Operation>>> = {
  record: 'answer',
  reject: 'reject',
  'note-refusal': 'noteRefusal',
  release: 'release',
  'turn-away': 'turnAway',
  'hold-back': 'holdBack',
};

/** At these something outside can happen; every other step is made at once. */
type Outside = 'reserve' | 'look-before' | 'look-first' | 'check-quote' | 'mark' | 'post' | 'look-after' | 'report';

/** What can become of an attempt to send, at the step at which it is. */
export function attemptMoves(here: Here, step: Step): void {
  const { setting, w, calm, can, fault } = here;
  const terms = termsOf(setting, step);
  const a = w.attempt;
  if (a === null) return;
  const { claim, record } = w.post;
  const begun = (world: World): World => ({ ...world, attempt: begunAttempt(terms) });
  const isByGateway = requestPlanOf(setting, w).byGateway === true;
  const over = (answer: 'not-sent' | 'gone', next: World): World =>
    here.finish(step, { ...PLAIN_SEND, answer }, { ...next, attempt: null });
  // Its gateway makes one attempt, and what that needs is gone with it.
  const lost = (): World => {
    const left = { ...w, post: abandoned(w, step) };
    return isByGateway ? over('gone', left) : begun(left);
  };
  /** The attempt goes on by itself until something outside can happen. */
  const goOn = (first: Attempt, world: World, isStoreAway = false): World => {
    let [attempt, next] = [first, world];
    let isUnwritten = false;
    for (let operation = WRITES[attempt.does]; operation !== undefined; operation = WRITES[attempt.does]) {
      const isOfAnswer = attempt.does === 'record' || attempt.does === 'reject';
      if (!isStoreAway) next = store(next, operation);
      else if (isOfAnswer) isUnwritten = true;
      attempt = nextOf(terms, attempt, { of: 'write', isDone: !isStoreAway });
    }
    if (attempt.does === 'try-later') return isByGateway ? over('not-sent', next) : begun(next);
    return { ...next, attempt: isUnwritten ? { ...attempt, later: 'store-unavailable' } : attempt };
  };
  const hears = (heard: Heard, world: World = w, isStoreAway = false): World =>
    goOn(nextOf(terms, a, heard), world, isStoreAway);
  const guarded = (isTrusted: boolean): boolean =>
    setting.worldPlant !== 'mark-unguarded' && hasUnjudged(w, step.reviewed, isTrusted);
  const isStrict = terms.guardsUntrusted || a.before === 'turned-away' || (claim.turnedAway > 0 && !claim.ordered);

  const { does } = a;
  const at = does as Outside;
  switch (at) {
    case 'reserve': {
      const reserved = store(w, 'reserve');
      const { claim: now } = reserved.post;
      // Of another request: nothing of ours is ever sent under it.
      const anothers = { ...w, post: { ...w.post, claim: { ...claim, phase: 'void' as const } } };
      const before = sentOf(now);
      const decidesAnew = (next: World, isUntaken = false): World =>
        here.finish(
          step,
          { ...PLAIN_SEND, answer: 'quote-expired', ...(isUntaken ? { isUntaken } : {}) },
          { ...next, attempt: null },
        );
      if (isBridge(setting) && step.request === 'deposit')
        fault('no worker takes the deposit while its quote is young', () => decidesAnew(w, true));
      if (now.phase !== 'reserved') {
        const finds = now.phase as 'sending' | 'answered' | 'rejected' | 'void';
        return calm(`the claim says: ${finds}`, () => hears({ of: 'reserve', finds, before }, reserved));
      }
      if (claim.phase === 'absent')
        fault('another request has reserved the reference', () =>
          hears({ of: 'reserve', finds: 'other-request', before: 'nothing' }, anothers),
        );
      if (!isRepeat(now))
        can('the request cannot be put on the wire', () =>
          here.finish(
            step,
            { of: 'unsendable', refusal: { reason: 'invalid_input', detail: '' } },
            { ...w, attempt: null },
          ),
        );
      if (step.debt !== undefined) fault('a worker comes long after it was decided', () => decidesAnew(reserved));
      if (w.post.zombie === null) fault('the worker is lost before it has reserved', lost);
      if (isRepeat(now))
        return calm('the claim is reserved for a repeat', () =>
          hears({ of: 'reserve', finds: 'reserved', before }, reserved),
        );
      if (guarded(true))
        return calm('reserved, and held back by an event', () =>
          hears({ of: 'reserve', finds: 'contradicted', before }, reserved),
        );
      if (!marksAtOnce(terms))
        return calm('the claim is reserved', () => hears({ of: 'reserve', finds: 'reserved', before }, reserved));
      return calm('the claim is marked: sending', () =>
        hears({ of: 'reserve', finds: 'may-send', before }, store(reserved, 'markFirst')),
      );
    }
    case 'look-before': {
      const says = isLookup(setting, w) ? trueLookup(setting, w) : 'no-lookup';
      // Several misses take seconds: a lag hides all of them, or none.
      const misses = (): World => {
        let attempt = a;
        for (let n = 0; n < MISSES && attempt.does === 'look-before'; n += 1)
          attempt = nextOf(terms, attempt, { of: 'lookup', says: missOf(setting, w) });
        return goOn(attempt, w);
      };
      calm(`before the repeat the lookup says: ${says}`, () =>
        isLookup(setting, w) && says === missOf(setting, w) ? misses() : hears({ of: 'lookup', says }),
      );
      if (!isLookup(setting, w)) return;
      if (mayNameNothing(setting, w)) fault(NAMELESS, () => hears({ of: 'lookup', says: 'proves-nothing' }));
      fault('before the repeat the lookup cannot tell', () => hears({ of: 'lookup', says: 'cannot-tell' }));
      if (record !== null) fault('before the repeat the lookup lags', misses);
      return;
    }
    case 'look-first': {
      const { says } = paidNow(here);
      calm(`before the send the lookup says: ${says}`, () => hears({ of: 'paid', says }));
      return fault('before the send the lookup cannot tell', () => hears({ of: 'paid', says: 'cannot-tell' }));
    }
    case 'check-quote':
      return calm('there is no quote', () => hears({ of: 'quote', isOver: false }));
    case 'mark': {
      const by = { nowMs: w.nowMs, owner: OWNER, guarded: guarded(!isStrict) };
      const marked = after(claim, 'mark', by);
      if (marked !== claim)
        return calm('the claim is marked: sending', () =>
          hears({ of: 'mark', finds: 'sending' }, { ...w, post: { ...w.post, claim: marked } }),
        );
      const finds = whyNotMarked(claim, by) === 'fenced' ? 'fenced' : 'contradicted';
      return calm(`the claim is not marked: ${finds}`, () => hears({ of: 'mark', finds }));
    }
    case 'post':
      return postMoves({ ...here, w: { ...w, post: { ...w.post, sends: w.post.sends + 1 } } }, hears, lost);
    case 'look-after': {
      const says = trueLookup(setting, w);
      const misses = (): World => {
        let attempt = a;
        const most = setting.worldPlant === 'one-miss' ? 1 : MISSES;
        for (let n = 0; n < MISSES && attempt.does === 'look-after'; n += 1)
          attempt = nextOf(
            terms,
            { ...attempt, misses: n + 1 >= most ? MISSES : attempt.misses },
            { of: 'lookup', says: missOf(setting, w) },
          );
        return goOn(attempt, w);
      };
      calm(`after the refusal the lookup says: ${says}`, () =>
        isLookup(setting, w) && says === missOf(setting, w) ? misses() : hears({ of: 'lookup', says }),
      );
      if (mayNameNothing(setting, w)) fault(NAMELESS, () => hears({ of: 'lookup', says: 'proves-nothing' }));
      fault('after the refusal the lookup cannot tell', () => hears({ of: 'lookup', says: 'cannot-tell' }));
      // A lag of ten seconds and three misses is beyond what the design promises to survive; of one it is not.
      if (setting.worldPlant === 'one-miss' && record !== null) fault('after the refusal one lookup lags', misses);
      return;
    }
    case 'report':
      return report(here, step, a, lost);
    default:
      return at satisfies never;
  }
}

function postMoves(
  { setting, w, calm, can, fault }: Here,
  hears: (heard: Heard, world?: World, isStoreAway?: boolean) => World,
  lost: () => World,
): void {
  const { post } = w;
  const { record } = post;
  const done = executed(setting, w);
  const heard = (says: PostSays, world: World, isStoreAway = false): World =>
    hears({ of: 'post', says }, world, isStoreAway);
  const onward: World = { ...w, post: done.post };
  calm(`the POST is executed, and answered: ${done.answer}`, () => heard(done.answer, onward));
  if (record === null) can('the service refuses the POST', () => heard('refused', w));
  if (record === null) fault('the service turns the POST away: not executed, try later', () => heard('turned-away', w));
  if (w.at === 'deposit')
    can('its quote is over before it leaves', () =>
      heard('too-late', { ...w, post: { ...post, sends: post.sends - 1 } }),
    );
  fault('the POST is executed, and its answer is lost', () => heard('unknown', onward));
  fault('the POST is executed, and its answer cannot be written', () => heard(done.answer, onward, true));
  if (record === null)
    fault('the service refuses the POST, and the refusal cannot be written', () => heard('refused', w, true));
  fault('the POST is lost on its way', () => heard('unknown', w));
  fault('the POST is late: it may be executed yet', () =>
    heard('unknown', { ...w, post: { ...post, flights: [...post.flights, w.nowMs + SETTLE_MS] } }),
  );
  fault('it is proven that the POST did not leave', () =>
    heard('not-sent', { ...w, post: { ...post, sends: post.sends - 1 } }),
  );
  fault('the worker is lost while it sends', lost);
  fault('sent twice on the way: the answer is that of a duplicate', () => heard('duplicate', onward));
  fault('sent twice on the way: the second one is refused for its reference', () => heard('refused-reference', onward));
  if (isLookup(setting, w)) fault('sent twice on the way: the second one is refused', () => heard('refused', onward));
}

const OUTCOMES: Readonly<Record<string, Answer>> = { contradicted: 'held-back' };

function report({ setting, w, calm, fault, finish }: Here, step: Step, a: Attempt, lost: () => World): void {
  const outcome = a.outcome ?? 'unknown';
  const answer = (OUTCOMES[outcome] ?? outcome) as Answer;
  const { claim, record } = w.post;
  const isUnwritten = a.later === 'store-unavailable';
  const isOpen = answer === 'unknown' || answer === 'duplicate';
  const isByGateway = requestPlanOf(setting, w).byGateway === true;
  calm(`the outcome reaches the flow: ${answer}`, () =>
    finish(
      step,
      {
        of: 'send',
        answer,
        repeat: isOpen && !isByGateway ? repeatOf(a, setting.repeat) : 'unknown',
        isRepeat: answer === 'accepted' && a.before !== 'nothing',
        unwritten: isUnwritten,
        isOther: answer === 'accepted' && record?.ours === false,
        afterMs: 0,
        sent: answer === 'void' ? sentOf(claim) : null,
        shown: w.at === 'deposit' && answer === 'accepted' ? { answer: DEPOSIT_ANSWER } : {},
        ...(answer === 'done-elsewhere' ? { paid: paidNow({ w }) } : {}),
      },
      { ...w, attempt: null },
    ),
  );
  fault('the worker is lost with the outcome', lost);
}
