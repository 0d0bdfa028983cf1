import {
  beforeRepeat,
  refusalStands,
  type LookupSays,
  type PaidSays,
  type Repeat,
  type SentBefore,
} from './decisions.js';

/*
 * One attempt to send a POST under its claim, as decisions: what it does next, by what it heard of the step before. Pure:
 * the activity does a step, hears what came of it and asks again, and the model does the same.
 */

/** What an attempt does next. */
export const DOES = [
  /** Its request cannot be sent: whether a claim is there. */
  'read-claim',
  /** Ask for the right to send; by `marksAtOnce` in one transaction with `mark`. */
  'reserve',
  /** An earlier POST of it left: whether the service shows it. */
  'look-before',
  /** Others can make the payment, too: whether it was made. */
  'look-first',
  'check-quote',
  /** Its payment request settles one debt: whether that is ours. */
  'take-debt',
  /** `reserved → sending`, with the guard; see `guardsAgainstUntrusted`. */
  'mark',
  'post',
  /** The refusal is kept with the claim, which stays in `sending`. */
  'note-refusal',
  /** Whether the service shows what it refused: a copy of it may have been executed. */
  'look-after',
  /** `sending → reserved`: it is proven not to have left. */
  'release',
  /** `sending → reserved`: it left, and the service says that it did not execute it. */
  'turn-away',
  'record',
  'reject',
  /** Another send is off. */
  'hold-back',
  /** The attempt is over, with an outcome. */
  'report',
  /** The attempt is over; the next one begins anew. */
  'try-later',
  /** The attempt is over, and so is the flow: nothing was sent, nor can be. */
  'refuse-request',
] as const;
export type Does = (typeof DOES)[number];

/** What an attempt reports. `duplicate`: the service knows the reference, or has something else under it. */
export type AttemptOutcome =
  | 'accepted'
  | 'rejected'
  | 'unknown'
  | 'duplicate'
  | 'contradicted'
  | 'void'
  | 'other-request'
  | 'quote-expired'
  | 'done-elsewhere';

/** Why the next attempt begins anew. */
export type WhyLater =
  'not-sent' | 'turned-away' | 'not-asked' | 'fenced' | 'unmatched' | 'other-deployment' | 'store-unavailable';

export interface Attempt {
  readonly does: Does;
  /** What is known of the POSTs that left before. */
  readonly before: SentBefore;
  /** Its request can be sent. */
  readonly sendable: boolean;
  /** Decided already, while a write is still to be made. */
  readonly outcome: AttemptOutcome | null;
  /** Why it is tried later. */
  readonly later: WhyLater | null;
  /** The outcome leaves it to the setting whether it is sent again without a person. */
  readonly bySetting: boolean;
  /** What the service refused, in one of its own bodies. */
  readonly refused: 'request' | 'rate' | null;
  /** How often the service has said in this attempt that it does not show it. */
  readonly misses: number;
}

/** What is fixed before an attempt begins. */
export interface Terms {
  /** The interface can show whether the POST was executed. */
  readonly lookUp: boolean;
  /** Others can make the payment, too: its lookup shows theirs as well, and is made before the first send. */
  readonly byOthersToo: boolean;
  /** The person who ordered it was shown that the lookup cannot tell. */
  readonly skipLookup: boolean;
  /** Its payment request can be paid once only, for one debt. */
  readonly takesDebt: boolean;
  /** Its request can be put on the wire, and what it names can be paid. */
  readonly sendable: boolean;
  /** The guard of its first send counts untrusted events already. */
  readonly guardsUntrusted: boolean;
}

/** What came of a POST, in a word: `judge` makes it of an answer. */
export const POST_SAYS = [
  'accepted',
  /** In one of the service's own bodies. */
  'refused',
  /** In words about its reference, which the service may know from an earlier copy. */
  'refused-reference',
  'rate-expired',
  'duplicate',
  /** 401 or 429 in the service's own words: not executed. */
  'turned-away',
  /** Everything else that was answered, and every answer that is lost or cannot be read. */
  'unknown',
  /** Proven: nothing left. */
  'not-sent',
  /** Nothing left, for its quote is over. */
  'too-late',
  /** Nothing left: it cannot be put on the wire. */
  'unsendable',
] as const;
export type PostSays = (typeof POST_SAYS)[number];

/** What an attempt finds when it asks for the right to send. */
export const RESERVE_FINDS = [
  'may-send',
  'reserved',
  'contradicted',
  'unmatched',
  'other-deployment',
  'other-request',
  'sending',
  'answered',
  'rejected',
  'void',
] as const;
export type ReserveFinds = (typeof RESERVE_FINDS)[number];

export type Heard =
  | { readonly of: 'claim'; readonly isThere: boolean }
  | { readonly of: 'reserve'; readonly finds: ReserveFinds; readonly before: SentBefore }
  | { readonly of: 'lookup'; readonly says: LookupSays }
  | { readonly of: 'paid'; readonly says: PaidSays }
  | { readonly of: 'quote'; readonly isOver: boolean }
  | { readonly of: 'debt'; readonly isOurs: boolean }
  | { readonly of: 'mark'; readonly finds: 'sending' | 'fenced' | 'contradicted' | 'unmatched' }
  | { readonly of: 'post'; readonly says: PostSays }
  /** A write after which nothing is asked; `isDone: false`: it failed, and may have been made nevertheless. */
  | { readonly of: 'write'; readonly isDone: boolean };

/** Misses in a row, over ten seconds, until "not found" counts: a single one may come from a lagging replica. */
export const MISSES = 3;

export const begun = (terms: Terms): Attempt => ({
  does: terms.sendable ? 'reserve' : 'read-claim',
  before: 'nothing',
  sendable: terms.sendable,
  outcome: null,
  later: null,
  bySetting: true,
  refused: null,
  misses: 0,
});

/** A first send needs nothing else: it is reserved and marked in one transaction, unless its quote is over. */
export const marksAtOnce = ({ sendable, byOthersToo, takesDebt }: Terms): boolean =>
  sendable && !byOthersToo && !takesDebt;

/** A repeat that no person ordered is held back by any event: it may be of an earlier copy. */
export const guardsAgainstUntrusted = (terms: Terms, { before }: Pick<Attempt, 'before'>): boolean =>
  terms.guardsUntrusted || before === 'turned-away';

/** Whether another attempt, or a person, may send it again by what this one reports. */
export const repeatOf = ({ bySetting }: Attempt, setting: Repeat): Repeat => (bySetting ? setting : 'unknown');

const on = (attempt: Attempt, does: Does, more: Partial<Attempt> = {}): Attempt => ({ ...attempt, ...more, does });
const reports = (attempt: Attempt, outcome: AttemptOutcome, more: Partial<Attempt> = {}): Attempt =>
  on(attempt, 'report', { ...more, outcome });
const later = (attempt: Attempt, why: WhyLater): Attempt => on(attempt, 'try-later', { later: why, outcome: null });
/** It may have been executed, and only a person may order another send. */
const leftOpen = (attempt: Attempt): Attempt => reports(attempt, 'unknown', { bySetting: false });

/**
 * The next step of an attempt. Total: what does not belong to its step changes nothing but that what may have been sent is
 * unknown.
 */
export function nextOf(terms: Terms, attempt: Attempt, heard: Heard): Attempt {
  switch (heard.of) {
    case 'claim':
      return on(attempt, heard.isThere ? 'reserve' : 'refuse-request');
    case 'reserve':
      return afterReserve(terms, { ...attempt, before: heard.before }, heard.finds);
    case 'lookup':
      return attempt.does === 'look-before'
        ? afterLookBefore(terms, attempt, heard.says)
        : afterLookAfter(terms, attempt, heard.says);
    case 'paid':
      if (heard.says === 'not-paid') return on(attempt, 'check-quote');
      return heard.says === 'cannot-tell' ? later(attempt, 'not-asked') : reports(attempt, 'done-elsewhere');
    case 'quote':
      // A reserved claim that stays behind does no harm: the next attempt takes it over.
      if (heard.isOver) return reports(attempt, 'quote-expired');
      return terms.takesDebt && attempt.sendable ? on(attempt, 'take-debt') : beforeMark(attempt);
    case 'debt':
      return beforeMark({ ...attempt, sendable: attempt.sendable && heard.isOurs });
    case 'mark':
      return afterMark(terms, attempt, heard.finds);
    case 'post':
      return afterPost(terms, attempt, heard.says);
    case 'write':
      return afterWrite(attempt, heard.isDone);
    default:
      return heard satisfies never;
  }
}

function afterReserve(terms: Terms, attempt: Attempt, finds: ReserveFinds): Attempt {
  switch (finds) {
    case 'may-send':
      return on(attempt, 'post');
    case 'reserved':
      return on(attempt, attempt.before === 'nothing' ? beforeFirst(terms) : 'look-before');
    case 'unmatched':
    case 'other-deployment':
      return later(attempt, finds);
    case 'sending':
      return reports(attempt, 'unknown');
    case 'answered':
      return reports(attempt, 'accepted');
    case 'contradicted':
    case 'other-request':
    case 'rejected':
    case 'void':
      return reports(attempt, finds);
    default:
      return finds satisfies never;
  }
}

const beforeFirst = ({ byOthersToo }: Terms): Does => (byOthersToo ? 'look-first' : 'check-quote');

/** Also of a lookup whose "not found" proves nothing: it may show the record a moment later. */
const isMiss = ({ lookUp }: Terms, says: LookupSays): boolean => says === 'absent' || (lookUp && says === 'no-lookup');

/** The service answered a moment ago, and its record may lag: what was turned away is absent after several misses. */
function afterLookBefore(terms: Terms, attempt: Attempt, says: LookupSays): Attempt {
  const misses = isMiss(terms, says) ? attempt.misses + 1 : 0;
  if (attempt.before === 'turned-away' && misses > 0 && misses < MISSES) return { ...attempt, misses };
  const step = beforeRepeat(says, terms.skipLookup);
  switch (step) {
    case 'follow':
      return on(attempt, 'record', { outcome: 'accepted' });
    case 'ask-person':
      return on(attempt, 'hold-back', { outcome: 'duplicate', bySetting: false });
    case 'wait':
      return later(attempt, 'not-asked');
    case 'send':
      return on(attempt, attempt.before === 'unknown' ? 'check-quote' : beforeFirst(terms), { misses: 0 });
    default:
      return step satisfies never;
  }
}

/** A first send that cannot be made ends the flow; a repeat is marked, so that no later attempt makes it. */
const beforeMark = (attempt: Attempt): Attempt =>
  on(attempt, attempt.sendable || attempt.before !== 'nothing' ? 'mark' : 'refuse-request');

function afterMark(terms: Terms, attempt: Attempt, finds: Extract<Heard, { of: 'mark' }>['finds']): Attempt {
  switch (finds) {
    case 'sending':
      return attempt.sendable ? on(attempt, 'post') : leftOpen(attempt);
    case 'fenced':
    case 'unmatched':
      return later(attempt, finds);
    case 'contradicted':
      return guardsAgainstUntrusted(terms, attempt) === terms.guardsUntrusted
        ? reports(attempt, 'contradicted')
        : on(attempt, 'hold-back', { outcome: 'unknown', bySetting: false });
    default:
      return finds satisfies never;
  }
}

function afterPost(terms: Terms, attempt: Attempt, says: PostSays): Attempt {
  switch (says) {
    case 'accepted':
      return on(attempt, 'record', { outcome: 'accepted' });
    case 'not-sent':
      return on(attempt, 'release', { later: 'not-sent' });
    case 'too-late':
      return on(attempt, 'release', { outcome: 'quote-expired' });
    case 'turned-away':
      return on(attempt, 'turn-away', { later: 'turned-away' });
    case 'unsendable':
      return attempt.before === 'nothing' ? on(attempt, 'release', { sendable: false }) : leftOpen(attempt);
    case 'duplicate':
    case 'unknown':
      return reports(attempt, says);
    case 'refused':
    case 'refused-reference':
    case 'rate-expired':
      return afterRefusal(terms, attempt, says);
    default:
      return says satisfies never;
  }
}

function afterRefusal(terms: Terms, attempt: Attempt, says: 'refused' | 'refused-reference' | 'rate-expired'): Attempt {
  // A refused repeat says nothing about the earlier send, which may be its cause (it used up the balance).
  if (attempt.before === 'unknown') return leftOpen(attempt);
  if (says === 'refused-reference') return on(attempt, 'note-refusal', { outcome: 'unknown', bySetting: false });
  const refused = says === 'rate-expired' ? 'rate' : 'request';
  return terms.lookUp
    ? on(attempt, 'note-refusal', { refused, misses: 0 })
    : afterLookAfter(terms, { ...attempt, refused }, 'no-lookup');
}

function afterLookAfter(terms: Terms, attempt: Attempt, says: LookupSays): Attempt {
  const misses = attempt.misses + 1;
  if (isMiss(terms, says) && misses < MISSES) return { ...attempt, misses };
  const isRateExpired = attempt.refused === 'rate';
  const refusal = { lookup: says, before: attempt.before, isAboutReference: false, isRateExpired };
  if (attempt.refused !== null && refusalStands(refusal)) return on(attempt, 'reject', { outcome: 'rejected' });
  // With a new rate, and if the service is known to take a repeat; every other refusal would be the same again.
  return reports(attempt, 'unknown', { bySetting: isRateExpired && says === 'no-lookup' });
}

/** A write after the service's answer never hides that answer. */
function afterWrite(attempt: Attempt, isDone: boolean): Attempt {
  const { does, outcome } = attempt;
  if (does === 'note-refusal') return outcome === null ? on(attempt, 'look-after') : reports(attempt, outcome);
  if (does === 'record' || does === 'reject') return reports(attempt, outcome ?? 'unknown');
  // What was to be handed back stays in `sending`: the next attempt says that it is unknown. Before a POST, it begins anew.
  if (!isDone) return later(attempt, 'store-unavailable');
  if (does === 'hold-back') return reports(attempt, outcome ?? 'unknown');
  if (does !== 'release' && does !== 'turn-away') return attempt;
  if (!attempt.sendable) return on(attempt, 'refuse-request');
  return outcome === null ? later(attempt, attempt.later ?? 'not-sent') : reports(attempt, outcome);
}
