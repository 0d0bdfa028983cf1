import { closedByOrder, isInTheWay, NO_CLAIM, voidedAll, type ClaimFacts } from '../../src/protocol/claim-table.js';
import type { LookupSays } from '../../src/protocol/decisions.js';
import { ORDERED_BEFORE } from '../../src/protocol/legal-orders.js';
import type { PaidResult, Result, Step } from '../../workflows/engine/known.js';
import { DEPOSIT_ANSWER, eventOf, QUOTE } from './bridge.js';
import type { Here } from './here.js';
import {
  claimReading,
  hasUnjudged,
  isBridge,
  isElsewhere,
  isLookup,
  OURS,
  postOf,
  prepared,
  requestPlanOf,
  SETTLE_MS,
  store,
  THEIRS,
  type Post,
  type Setting,
  type World,
  viewIn,
} from './world.js';

const postsOf = ({ plan }: Setting, w: World): readonly Post[] => plan.requests.map(({ name }) => postOf(w, name));

/** What can become of a step that runs, except a send. */
export function stepMoves(here: Here, step: Step): void {
  const { setting, w, calm, can, fault } = here;
  const finish = (result: Result, next: World = w): World => here.finish(step, result, next);
  const noAnswer = (next: World = w): World => finish({ of: 'no-answer' }, next);
  /** After a person was asked, it is tried for as long as it takes. */
  const impatient = (add: () => void): void => (step.isParked === true ? undefined : add());
  const refused = (): void => {
    if (isLookup(setting, w))
      fault('the lookup is refused each time', () => finish({ of: 'cannot-ask', why: 'a new contract' }));
  };
  switch (step.do) {
    case 'check': {
      calm('the input is valid', () => finish(checked(setting, w)));
      const first = checked(setting, w);
      const others = { [w.at]: { claim: 'free', sent: 'nothing', isOther: true } } as const;
      if (first.claims[w.at]?.claim === 'free' && first.events.length === 0 && !isElsewhere(setting))
        // No worker of ours can take that claim.
        fault('another request has claimed its reference', () =>
          finish({ ...first, claims: { ...first.claims, ...others } }, { ...w, post: { ...w.post, zombie: null } }),
        );
      const refusal = { reason: 'invalid_input', detail: '' } as const;
      // Settings may have changed since an earlier run, whose worker is not forgotten as long as that.
      if (postsOf(setting, w).every(({ zombie }) => zombie === null))
        can('the input is invalid', () => finish({ of: 'check', prepared: null, refusal, claims: {}, events: [] }));
      return;
    }
    case 'ask':
      return ask(here, step);
    case 'follow': {
      refused();
      const { record } = w.post;
      if (record === null) return;
      if (!record.ours)
        return can('the status lookup shows a record of another payment', () => finish(followed('other', null)));
      const { words } = here.request;
      if (!words.includes(wordOf(record.word)))
        calm(`the status lookup says: ${record.word}`, () => finish(recordOf(here, record.word)));
      return;
    }
    case 'look-status': {
      const { record } = w.post;
      const says = w.post.record?.ours === false ? 'other' : missOf(setting, w);
      calm(`the status is looked up once: ${record?.ours === true ? record.word : says}`, () =>
        finish(record?.ours === true ? recordOf(here, record.word) : followed(says, null)),
      );
      fault('the lookup cannot tell', () => finish(followed('cannot-tell', null)));
      if (mayNameNothing(setting, w)) fault(NAMELESS, () => finish(followed('proves-nothing', null)));
      fault('nobody answers whether the lookup was made', () => noAnswer());
      refused();
      if (record !== null) fault('the lookup lags: not found', () => finish(followed(missOf(setting, w), null)));
      return;
    }
    case 'look': {
      calm(`claim and lookup are asked once: ${claimReading(w.post.claim).claim}, ${lookupNow(here)}`, () =>
        finish(looked(here, 'look', false), recorded(here)),
      );
      fault('neither store nor lookup answer', () => noAnswer());
      if (isOpen(w.post.claim)) refused();
      if (!isLookup(setting, w) || !isOpen(w.post.claim)) return;
      const says = (lookup: LookupSays) => () => finish({ ...looked(here, 'look', false), lookup, isOther: false });
      fault('the lookup cannot tell', says('cannot-tell'));
      if (mayNameNothing(setting, w)) fault(NAMELESS, says('proves-nothing'));
      if (w.post.record !== null) fault('the lookup lags: not found', says(missOf(setting, w)));
      return;
    }
    case 'read-inbox':
      calm('the inbox is read', () => finish({ of: 'read-inbox', events: w.inbox }, { ...w, read: w.inbox.length }));
      return impatient(() => fault('the inbox cannot be read', () => noAnswer()));
    case 'void':
      return voidAll(here, step);
    case 'write-answer': {
      // A refusal is the owner's to write, and a proof anybody's.
      const written =
        here.request.answer === 'rejected' && here.request.unwritten ? store(w, 'reject') : store(w, 'answer');
      calm('the answer is written to the claim', () => finish({ of: 'write-answer' }, written));
      return fault('the store is away: the answer cannot be written', () => noAnswer());
    }
    case 'order-send': {
      const opened = store(w, 'orderAgain', { owner: '', ...window(here, step) });
      const isTaken = opened !== w || ['absent', 'reserved'].includes(w.post.claim.phase);
      const isMore = opened !== w;
      const isTooEarly = isMore && w.post.flights.length > 0 && here.request.answer !== 'duplicate';
      const wrong = isTooEarly ? 'another send is ordered with a POST on its way' : opened.wrong;
      const next = isMore ? { ...opened, wrong, post: { ...opened.post, moreSends: opened.post.moreSends + 1 } } : w;
      calm(`another send is ordered: ${isTaken ? 'taken' : 'not taken'}`, () =>
        finish({ of: 'order-send', isTaken, ...claimReading(next.post.claim) }, next),
      );
      if (isMore && step.order !== undefined)
        fault('the order was carried out before a reset: not taken', () =>
          finish({ of: 'order-send', isTaken: false, why: ORDERED_BEFORE, ...claimReading(w.post.claim) }),
        );
      fault('the store does not answer: another send was ordered all the same', () => noAnswer(next));
      return fault('the store is away: no other send was ordered', () => noAnswer());
    }
    case 'take-back': {
      const next = store(w, 'holdBack');
      calm('the ordered send is taken back', () => finish({ of: 'take-back', ...claimReading(next.post.claim) }, next));
      return impatient(() => fault('the store is away: the ordered send was not taken back', () => noAnswer()));
    }
    case 'close': {
      const lost = w.post.claim.phase === 'absent' ? store(w, 'void') : w;
      const next = store(lost, 'close', window(here, step));
      calm(`the claim is to be closed: ${claimReading(next.post.claim).claim}`, () =>
        finish({ of: 'close', ...claimReading(next.post.claim) }, next),
      );
      fault('the store does not answer: the claim was closed all the same', () => noAnswer(next));
      return fault('the store is away: the claim was not closed', () => noAnswer());
    }
    case 'last-word': {
      const isGuarded = hasUnjudged(w, step.reviewed);
      const { action } = w.known.orders.find(({ id }) => id === step.order) ?? {};
      const windowMs = action === 'mark-failed' ? SETTLE_MS : 0;
      const names = setting.plan.requests.map(({ name }) => name);
      const claims = names.map((name) => postOf(w, name).claim);
      const after = closedByOrder(claims, { nowMs: w.nowMs, guarded: isGuarded, windowMs });
      const closed = (name: string): Post => ({ ...postOf(w, name), claim: after[names.indexOf(name)] ?? NO_CLAIM });
      const besides = Object.fromEntries(Object.keys(w.besides).map((name) => [name, closed(name)]));
      const isNone = isElsewhere(setting);
      const next = { ...w, ...(isNone ? {} : { post: closed(w.at), besides }), read: w.inbox.length };
      const isClosed = after !== claims;
      calm(
        `the claims are to be closed by the order: ${isClosed ? 'done' : 'not, an event came, or a POST is under way'}`,
        () =>
          finish(
            { of: 'last-word', isClosed, why: isClosed ? null : { code: 'event_came', text: '' } },
            isClosed ? next : w,
          ),
      );
      // It is tried until the store answers.
      if (isClosed) fault('the claims are closed by the order, and that is not answered', () => next);
      return;
    }
    case 'quote':
      calm('the service gives a quote', () => finish({ of: 'quote', quote: QUOTE, why: null }));
      can('the service gives a worse quote', () =>
        finish({ of: 'quote', quote: { ...QUOTE, cryptoAmount: '5' }, why: null }),
      );
      return can('the service gives no quote', () => finish({ of: 'quote', quote: null, why: 'none' }));
    case 'report': {
      const { event } = w.known.events.find((one) => one.event.id === step.event) ?? {};
      const status = event?.status ?? '';
      calm('the report is taken', () => finish({ of: 'report', status, outcome: { kind: 'reported' } }));
      const message = 'no';
      can('the report is refused', () =>
        finish({ of: 'report', status, outcome: { kind: 'refused', httpStatus: 400, message } }),
      );
      return impatient(() =>
        fault('the report is not taken', () =>
          finish({ of: 'report', status, outcome: { kind: 'not-taken', message } }),
        ),
      );
    }
    case 'compare': {
      const { record } = w.post;
      if (record === null) return;
      const other = record.ours ? null : { differs: ['amount'], ours: OURS, theirs: THEIRS };
      calm('what was made is read, and compared', () => finish({ of: 'compare', other }));
      return refused();
    }
    case 'look-paid':
    case 'ask-paid':
      return lookPaid(here, step);
    case 'check-invoice': {
      const given = {
        invoice: 'an invoice',
        amountMsat: '1000',
        paymentHash: `hash ${w.left.orders}`,
        payee: 'a node',
        expiresAt: '',
        expiresAtMs: w.nowMs + INVOICE_LIFE_MS,
      };
      calm('the refund invoice is good', () => finish({ of: 'check-invoice', given, why: null }));
      const why = { code: 'invoice_refused', text: '' } as const;
      can('the refund invoice is refused', () => finish({ of: 'check-invoice', given: null, why }));
      return fault('the refund invoice cannot be checked', () => noAnswer());
    }
    case 'hand-over':
      calm('the service takes the refund invoice', () => finish({ of: 'hand-over', says: 'taken', why: null }));
      can('the service refuses the refund invoice', () => finish({ of: 'hand-over', says: 'refused', why: '' }));
      fault('the refund invoice did not leave', () => finish({ of: 'hand-over', says: 'not-sent', why: '' }));
      fault('whether the service takes the refund invoice is lost', () =>
        finish({ of: 'hand-over', says: 'unknown', why: '' }),
      );
      return fault('nobody answers whether the refund invoice was handed over', () => noAnswer());
    case 'send':
      return;
    default:
      return step.do satisfies never;
  }
}

/** What the check of a valid input finds. */
export function checked(setting: Setting, w: World): Extract<Result, { of: 'check' }> {
  const found = prepared(setting, w);
  const read = Object.keys(found.steps).map((name) => [name, claimReading(postOf(w, name).claim)] as const);
  const claims = Object.fromEntries(read.map(([name, claim]) => [name, { ...claim, repeat: setting.repeat }]));
  // Of a first run nothing is read: what comes is delivered to it.
  const isFirst = read.every(([, { claim, sent }]) => ['free', 'reserved'].includes(claim) && sent === 'nothing');
  const quote = isBridge(setting) ? { quote: QUOTE } : {};
  return { of: 'check', prepared: found, refusal: null, claims, events: isFirst ? [] : w.inbox, ...quote };
}

const INVOICE_LIFE_MS = 600_000;

/** What the service shows of a payment, whoever has made it: PENDING is shown of an invoice that is not paid, too. */
export function paidNow({ w }: Pick<Here, 'w'>): PaidResult {
  const { record } = w.post;
  const says = record === null || record.word === 'PENDING' || record.word === 'FAILED' ? 'not-paid' : 'paid';
  return { says, word: says === 'paid' ? (record?.word ?? null) : null, shown: {} };
}

function lookPaid(here: Here, step: Step): void {
  const { w, calm, fault } = here;
  const finish = (result: Result): World => here.finish(step, result, seenByFlow(w));
  const now = paidNow(here);
  const isReported = w.known.events.some(({ event }) => event.trusted && event.status !== 'FAILED');
  // Asked on, it answers once it is known; a trusted event against it leaves it open.
  const isOpen = step.do === 'ask-paid' && now.says === 'not-paid' && isReported;
  if (!isOpen) calm(`whether it was paid is looked up: ${now.says}`, () => finish({ of: 'paid', ...now }));
  fault('whether it was paid cannot be looked up: refused each time', () => finish({ of: 'cannot-ask', why: '' }));
  if (step.do === 'ask-paid') return;
  fault('the lookup cannot tell whether it was paid', () =>
    finish({ of: 'paid', says: 'cannot-tell', word: null, shown: {} }),
  );
  fault('the question whether it was paid gets no answer', () => finish({ of: 'no-answer' }));
}

/** From now on the flow can know of it. */
function seenByFlow(w: World): World {
  const { record } = w.post;
  return record?.byOthers === 'unseen' ? { ...w, post: { ...w.post, record: { ...record, byOthers: 'seen' } } } : w;
}

const followed = (lookup: LookupSays, word: string | null): Extract<Result, { of: 'follow' }> => ({
  of: 'follow',
  lookup,
  word,
  shown: {},
});

/** As an event says it. */
const wordOf = (word: string): string => eventOf(word).status;

/** A looked-up record of a bridge deposit says as much as an event. */
function recordOf({ setting, w }: Here, word: string): Extract<Result, { of: 'follow' }> {
  const isKept = requestPlanOf(setting, w).keepsRecord === true;
  return isKept ? { ...followed('shown', wordOf(word)), facts: eventOf(word).facts } : followed('shown', word);
}

/** What a lookup says that knows no such record. */
export const missOf = (setting: Setting, w: Pick<World, 'at'>): LookupSays =>
  requestPlanOf(setting, w).provenByEvents === true ? 'no-lookup' : 'absent';

/** A record that only the live service shows may name neither a reference of ours nor an amount. */
export const mayNameNothing = (setting: Setting, w: Pick<World, 'at' | 'post'>): boolean =>
  isLookup(setting, w) && requestPlanOf(setting, w).lookUp === 'live' && w.post.record !== null;
export const NAMELESS = 'the record that is looked up names nothing by which it is ours';

export function trueLookup(setting: Setting, w: World): LookupSays {
  const { record } = w.post;
  const isOfInvoice = requestPlanOf(setting, w).byOthersToo === true;
  // An invoice that is there is shown as PENDING, whether or not a payment of it was begun.
  const isThere = isOfInvoice && Object.values(w.besides).some((other) => other.record !== null);
  if (record === null) return isThere ? 'proves-nothing' : missOf(setting, w);
  if (isOfInvoice && record.word === 'PENDING') return 'proves-nothing';
  return record.ours ? 'shown' : 'other';
}

const isOpen = ({ phase }: ClaimFacts): boolean => phase === 'sending' || phase === 'reserved' || phase === 'absent';

/** What the activity reads: the lookup only if the claim leaves it open. */
function lookupNow({ setting, w }: Here): LookupSays {
  if (!isLookup(setting, w)) return isOpen(w.post.claim) ? 'no-lookup' : 'cannot-tell';
  return isOpen(w.post.claim) ? trueLookup(setting, w) : 'cannot-tell';
}

function looked(here: Here, of: 'ask' | 'look', windowOver: boolean): Extract<Result, { of: 'ask' | 'look' }> {
  const says = claimReading(here.w.post.claim).claim;
  const isOther = says === 'answered' && here.w.post.record?.ours === false;
  // Asked for a whole window, the flow knows of a send: a claim that shows none leaves it open.
  const claim = of === 'ask' && isOpen(here.w.post.claim) ? 'sending' : says;
  const isDeposit = claim === 'answered' && here.w.at === 'deposit';
  return {
    of,
    claim,
    lookup: lookupNow(here),
    windowOver,
    isOther,
    shown: isDeposit ? { answer: DEPOSIT_ANSWER } : {},
  };
}

/** What the lookup shows is written to the claim. */
function recorded({ setting, w }: Here): World {
  const isShown = isLookup(setting, w) && trueLookup(setting, w) === 'shown' && isOpen(w.post.claim);
  return isShown ? store(w, 'answer') : w;
}

/** By the store's clock: a claim that went to `sending` since may be under way. */
function window({ request, w }: Here, step: Step): { windowMs: number; sentUntilMs: number } {
  const isUnguarded = request.answer === 'duplicate';
  return { windowMs: isUnguarded ? 0 : SETTLE_MS, sentUntilMs: isUnguarded ? w.nowMs : (step.beganAtMs ?? w.nowMs) };
}

function ask(here: Here, step: Step): void {
  const { setting, w, calm, fault, request } = here;
  const finish = (result: Result, next: World = w): World => here.finish(step, result, next);
  const { claim } = w.post;
  const now = looked(here, 'ask', false);
  const isNews =
    now.claim === 'answered' ||
    now.claim === 'rejected' ||
    now.claim === 'void' ||
    now.lookup === 'shown' ||
    (now.lookup === 'other' && request.lookup?.says !== 'other');
  if (isNews) calm(`asking brings: claim ${now.claim}, lookup ${now.lookup}`, () => finish(now, recorded(here)));
  if (isLookup(setting, w) && isOpen(claim))
    fault('the lookup is refused each time', () => finish({ of: 'cannot-ask', why: 'a new contract' }));
  if (w.nowMs < request.askUntilMs) return;
  // What a person was shown is no news; that it could not be asked is not so any more once it answers for a whole window.
  const wasUnasked = step.isParked === true && step.knows === 'cannot-tell';
  if (request.windowOver && !(wasUnasked && now.lookup === 'absent')) return;
  const through = (lookup: LookupSays, next: World = w) =>
    finish({ ...now, claim: 'sending', lookup, windowOver: true, isOther: false }, next);
  if (mayNameNothing(setting, w) && isOpen(claim)) fault(NAMELESS, () => through('proves-nothing'));
  if (isNews) {
    if (now.lookup === 'shown' || now.lookup === 'other')
      fault('the lookup lagged for the whole window', () => through(missOf(setting, w)));
    return;
  }
  if (!isLookup(setting, w)) return calm('nothing was learnt for the whole window', () => through('no-lookup'));
  if (now.lookup === 'proves-nothing')
    calm('the lookup showed what was there before, for the whole window', () => through('proves-nothing'));
  const isMissing = w.post.record === null && now.lookup !== 'proves-nothing';
  if (isMissing && claim.refusal && w.inbox.length === 0 && missOf(setting, w) === 'absent') {
    const next = store(w, 'confirmRefusal');
    return calm('the lookup showed nothing for the whole window, which confirms the refusal', () =>
      finish({ ...now, claim: claimReading(next.post.claim).claim, lookup: 'absent', windowOver: true }, next),
    );
  }
  if (isMissing) calm('the lookup showed nothing for the whole window', () => through(missOf(setting, w)));
  if (!request.windowOver) fault('the lookup could not tell for the whole window', () => through('cannot-tell'));
}

function voidAll(here: Here, step: Step): void {
  const { setting, w, calm, fault, finish } = here;
  const { claim, record } = w.post;
  if (isElsewhere(setting)) return voidNone(here, step);
  // Anyone may start a flow whose input is invalid: it must not close the claim of another one.
  if (step.stop === 'invalid' && w.known.prepared === null && claim.phase === 'absent' && w.inbox.length === 0)
    return calm('there are no claims to void', () =>
      finish(step, { of: 'void', isDone: true, claims: {}, events: [] }, { ...w, read: 0 }),
    );
  const isGuarded = setting.worldPlant !== 'void-unguarded' && hasUnjudged(w, step.reviewed);
  const isTurnedAway = claim.phase === 'reserved' && claim.turnedAway > 0 && !claim.ordered;
  // The service's own word is enough where nothing can show the contrary; else its lookup must show nothing.
  // A run whose input is invalid can ask nothing: it is tried again and again, once a person has been asked.
  const cannotLook = step.looksFirst !== true || w.known.prepared === null;
  if (isTurnedAway && isLookup(setting, w) && cannotLook) {
    if (step.isParked === true) return;
    return calm('the claims are not voided: the service turned a POST away', () =>
      finish(step, result(here, w, false), { ...w, read: w.inbox.length }),
    );
  }
  if (isTurnedAway && isLookup(setting, w) && !isGuarded && record !== null) {
    if (!record.ours)
      // Tried again and again: a person has been asked.
      return step.isParked === true
        ? undefined
        : calm('the lookup shows another payment: the claims are not voided', () =>
            finish(step, { of: 'no-answer' }, w),
          );
    const next = store(w, 'answer');
    return calm('the lookup shows what the service had turned away', () =>
      finish(step, result(here, next, false), { ...next, read: w.inbox.length }),
    );
  }
  if (isTurnedAway && mayNameNothing(setting, w) && !isGuarded)
    fault(NAMELESS, () => finish(step, result(here, w, false), { ...w, read: w.inbox.length }));
  // It is shown before any payment, too.
  if (isTurnedAway && requestPlanOf(setting, w).byOthersToo === true && !isGuarded)
    calm('the lookup shows an unpaid invoice: the claims are not voided', () =>
      finish(step, result(here, w, false), { ...w, read: w.inbox.length }),
    );
  // Its own send is waited for.
  const isAwaited = step.awaitsSend === true && claim.phase === 'sending' && w.attempt !== null && !isGuarded;
  const by = { nowMs: w.nowMs, guarded: isGuarded };
  const believed = isTurnedAway ? [claim.turnedAway] : [];
  const [voided = claim] = voidedAll([claim], by, believed);
  const isForced = setting.worldPlant === 'void-anything' && !isGuarded;
  const one = { ...w, post: { ...w.post, claim: isForced ? { ...claim, phase: 'void' as const } : voided } };
  const isDone = !isGuarded && (isForced || !isInTheWay(claim, { turnedAway: believed[0] ?? 0 }));
  const next = isDone && step.only === undefined ? withOthersVoid(setting, one) : one;
  if (!isAwaited)
    calm(`the claims are to be voided: ${isDone ? 'done' : 'not done'}`, () =>
      finish(step, result(here, next, isDone), { ...next, read: w.inbox.length }),
    );
  if (step.isParked === true) return;
  fault('the store does not answer: the claims were voided all the same', () =>
    finish(step, { of: 'no-answer' }, next),
  );
  fault('the store is away: the claims were not voided', () => finish(step, { of: 'no-answer' }, w));
}

/** Requests whose claims are voided: what was made, and moved nothing, stays. */
function openOf(setting: Setting, w: World, only?: string): readonly string[] {
  if (only !== undefined) return [only];
  const { over } = viewIn(setting, w);
  return setting.plan.requests.map(({ name }) => name).filter((name) => !over.includes(name));
}

/** What comes after it has never begun. */
function withOthersVoid(setting: Setting, w: World): World {
  const others = openOf(setting, w).filter((name) => name !== w.at);
  const voids = others.map(
    (name) => [name, { ...postOf(w, name), claim: { ...NO_CLAIM, phase: 'void' as const } }] as const,
  );
  return { ...w, besides: { ...w.besides, ...Object.fromEntries(voids) } };
}

/** A flow without claims is stopped by the inbox alone. */
function voidNone({ w, calm, fault, finish }: Here, step: Step): void {
  const isDone = !hasUnjudged(w, step.reviewed);
  calm(`there are no claims to void: ${isDone ? 'done' : 'not, an event came'}`, () =>
    finish(step, { of: 'void', isDone, claims: {}, events: w.inbox }, { ...w, read: w.inbox.length }),
  );
  if (step.isParked !== true)
    fault('the store is away: nothing is stopped', () => finish(step, { of: 'no-answer' }, w));
}

const result = ({ setting, w }: Here, next: World, isDone: boolean): Result => ({
  of: 'void',
  isDone,
  claims: Object.fromEntries(
    openOf(setting, next, w.known.running.find((step) => step.do === 'void')?.only).map(
      (name) => [name, claimReading(postOf(next, name).claim)] as const,
    ),
  ),
  events: setting.worldPlant === 'void-unguarded' ? [] : next.inbox,
});
