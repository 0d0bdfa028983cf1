import type { ClaimRef, DescribedStep, Facts, FlowPreparation, HandOver, Quote, ReportOutcome } from '../../activities/types.js'; // prettier-ignore
import type { OtherRecord } from '../../src/flows/echoes.js';
import type { Cause } from '../../src/protocol/causes.js';
import type { SentBefore, ClaimSays, Ending, LookupSays, PaidSays, Repeat } from '../../src/protocol/decisions.js';
import type { FlowEvent, Rejection } from '../../src/protocol/messages.js';
import type { EndReason, ParkAction, ParkReason } from '../../src/protocol/vocabulary.js';
import type { RefundOrdered, TransferKnown } from '../bridge/known.js';
import type { GivenInvoice, RefundInvoice } from './refund-invoice.js';

/*
 * Everything that a flow knows, as plain JSON: what came in, and what it has reported. Never what is to be done: that
 * follows from it (`decide.ts`). It travels through continue-as-new as it is.
 */

export interface Known {
  /** Version of the lists of rules by which this flow decides. */
  readonly rules: number;
  readonly input: 'unchecked' | 'valid' | 'invalid';
  /** Why the input is invalid. */
  readonly refusal: Refusal | null;
  /** What the first check of the input found. */
  readonly prepared: FlowPreparation | null;
  /** Multiplies every wait of our own. */
  readonly timeScale: number;
  /** How much longer than its window a question to the service may take, ms. */
  readonly patienceMs: number;
  /** How long a POST may be under way after its answer was lost, ms. */
  readonly settleMs: number;
  /** How long a failure that only events report waits for an event against it, ms. */
  readonly graceMs: number;
  /** From the start, or from an order that gives the flow more time, to the deadline; ms. */
  readonly deadlineMs: number;
  readonly deadlineAtMs: number;
  readonly requests: Readonly<Record<string, Request>>;
  readonly inbox: Reading<'read' | 'cannot-tell'> | null;
  /** The last attempt to void all claims for an end. */
  readonly stop: StopTried | null;
  /** Each once, in the order of arrival. */
  readonly events: readonly Event[];
  /** Ids of untrusted events that the store holds, and that were too many to keep. */
  readonly notTaken: readonly string[];
  readonly orders: readonly Order[];
  /** Begun, and not ended. */
  readonly running: readonly Step[];
  /**
   * Grows with every input that can change a decision. What was read in an earlier turn is no reason to end or to send: a
   * decision stands if the last reading brought nothing new.
   */
  readonly turn: number;
  /** Of a bridge transfer; null: of any other kind. */
  readonly transfer: TransferKnown | null;
  /** For an offramp whose refund goes to a Lightning invoice; null: none was given, and nobody is to wait for one. */
  readonly refundInvoice: RefundInvoice | null;
  /** The question that a person is shown; null: none. */
  readonly parked: Question | null;
  /** When the last question was shown, ms: no two have the same. */
  readonly askedSinceMs: number;
}

/** Why an input cannot be sent. */
export interface Refusal {
  readonly reason: EndReason;
  readonly detail: string;
}

/** What one question to store or service found. */
export interface Reading<Says> {
  readonly says: Says;
  /** When it was begun, ms. */
  readonly askedAtMs: number;
  /** The turn in which it was begun. */
  readonly turn: number;
}

/** One money POST. */
export interface Request {
  readonly claim: ClaimSays;
  /** What the store knows of the POSTs that left under it. */
  readonly sent: SentBefore;
  /** What its last send reported; null: none was begun, or another send was ordered since. */
  readonly answer: Answer | null;
  /** It was read from its claim, and not reported by its send: what the service answered is not known yet. */
  readonly byClaim: boolean;
  /** The service's answer, or its refusal, is still to be written to its claim. */
  readonly unwritten: boolean;
  /** It was tried to write to a closed claim that the service has it all the same. */
  readonly proofWritten: boolean;
  readonly lookup: Reading<LookupSays> | null;
  /** Why its lookup fails in a way that comes again; null: it can be asked. */
  readonly unaskable: string | null;
  /** The lookup said the same for the whole confirmation window. */
  readonly windowOver: boolean;
  /** Status words that the lookup has shown, each once. */
  readonly words: readonly string[];
  /** The one that it has shown last. */
  readonly word: string | null;
  /** The service itself answered that it knows the reference. */
  readonly saidToExist: boolean;
  /** Until then a POST of it may be under way, ms. */
  readonly underWayUntilMs: number;
  /** Until then it is asked before a person is, ms: also if the service said that it knows the reference. */
  readonly askUntilMs: number;
  /** Whether the service is set to take a repeat; `unknown`: not any more, a person decides. */
  readonly repeat: Repeat;
  /** More than one POST of it may have left. */
  readonly maybeTwice: boolean;
  /** Attempts of it that were proven not to have left, one by one; only of what a gateway sends. */
  readonly notSent: NotSent | null;
  /** When it was first known that the service has it, ms. */
  readonly shownAtMs: number | null;
  /** When its first send began, ms; 0: none has. */
  readonly firstSendAtMs: number;
  /** The service's record or answer is of another payment. */
  readonly isOther: boolean;
  /** Whether what it made is what was asked for; null: that was not compared. */
  readonly compared: 'ours' | 'other' | null;
  /** Whether it was paid by another way, if others can pay it, too. What was shown once stays so. */
  readonly paid: Reading<PaidSays> | null;
  /** Its next send goes out even if the lookup cannot tell: the person who ordered it was shown that. */
  readonly unasked: boolean;
  /** The send that is due was ordered by a person. */
  readonly byPerson: boolean;
  /** The store did not answer when another send was ordered: it may be open for one, and is closed to it again. */
  readonly maybeOrdered: boolean;
  /** The store did not answer when an ordered send was to be taken back. */
  readonly holdBackFailed: boolean;
  readonly shown: ForPersons;
}

/** When the last one ended, and how long the service asks to wait; ms. */
export interface NotSent {
  readonly times: number;
  readonly atMs: number;
  readonly afterMs: number;
}

/** What only people and callers read: no rule looks at it. */
export interface ForPersons {
  readonly why: string | null;
  readonly answer: unknown;
  readonly owner: string;
  readonly rejection: Rejection | null;
  readonly refused: string | null;
  readonly other: OtherRecord | null;
  readonly asked: Readonly<Record<string, unknown>> | null;
  /** A trusted event proved it before its answer was known. */
  readonly byEvent: boolean;
}

export type Answer =
  | 'accepted'
  | 'rejected'
  | 'unknown'
  | 'duplicate'
  | 'held-back'
  | 'void'
  | 'other-request'
  /** The lookup before it shows that others have paid: it was not sent. */
  | 'done-elsewhere'
  /** Its quote was over: it was not sent. */
  | 'quote-expired'
  /** It cannot be put on the wire: it was not sent, and stays due. */
  | 'unsendable'
  /** Its send was not awaited any more. */
  | 'given-up'
  /** Proven: this attempt sent nothing, and it may be tried again. */
  | 'not-sent'
  /** What a send needs is gone: this attempt sent nothing, as far as is known. */
  | 'gone';

export type StopEnd = 'cancelled' | 'expired' | 'invalid' | 'card-gone' | 'closed' | 'paid' | 'no-quote' | 'refunded';

export interface StopTried {
  readonly for: StopEnd;
  /** `no-answer`: it may have been carried out. */
  readonly says: 'done' | 'not-done' | 'no-answer';
  readonly turn: number;
  /** The order that asked for it. */
  readonly order: string | null;
}

/** An event as the inbox holds it, and what is known of it besides. */
export interface Event {
  readonly event: FlowEvent;
  /** When it reached the flow, ms. */
  readonly atMs: number;
  /** Its status had been shown by the lookup before. */
  readonly isRepeated: boolean;
  /** What a person said of it. */
  readonly said: 'accepted' | 'dismissed' | 'trusted' | null;
}

export type Action = ParkAction | 'cancel' | 'refund-invoice' | 'pay' | 'approve-quote';

export interface Order {
  /** Of its update: it is carried out once for ever, also if Temporal applies it again after a reset. */
  readonly id: string;
  readonly action: Action;
  readonly actor: string;
  readonly note: string;
  readonly eventId: string | null;
  /** The invoice of a `refund-invoice`. */
  readonly invoice: string | null;
  /** The checked terms of a `pay`. */
  readonly described: DescribedStep | null;
  /** The new deadline of a `keep-waiting`, ms. */
  readonly untilMs: number | null;
  /** Since when the question was shown that it answers; null: it answers none. */
  readonly parkedSinceMs: number | null;
  /** The request that was asked about. */
  readonly request: string;
  /** The lookup could not tell when it was asked. */
  readonly cannotTell: boolean;
  /** What its own step reported. */
  readonly result: OrderResult | null;
  readonly became: 'carried-out' | 'refused' | null;
  readonly why: Cause | null;
}

/** `taken`, `void`, `closed`: the store has carried it out. `no-answer`: it may have. */
export type OrderResult = 'taken' | 'not-taken' | 'void' | 'not-void' | 'closed' | 'not-closed' | 'no-answer';

/** What a person is asked. If it changes in anything but its time, it is another question. */
export interface Question {
  readonly reason: ParkReason;
  readonly request: string;
  /** The event that is asked about. */
  readonly about: string | null;
  readonly sinceMs: number;
  readonly actions: readonly ParkAction[];
  /** Endings that were proven when it was shown. */
  readonly endings: readonly Ending[];
  /** The lookup could not tell then: an order to send again stands on that. */
  readonly cannotTell: boolean;
}

export const STEPS = [
  /** The input, and what the store knows of the claims. */
  'check',
  /** The POST, under its claim. */
  'send',
  /** Claim and lookup, until one of them says something new, or the window is over. */
  'ask',
  /** The same once. */
  'look',
  /** The status of a payment that the service has, until it is a new one. */
  'follow',
  /** The same once. */
  'look-status',
  'read-inbox',
  /** Voids all claims of the flow, or none; reads the inbox in the same transaction. */
  'void',
  'write-answer',
  'order-send',
  'take-back',
  'close',
  /** Closes all claims of the flow by a person's order. */
  'last-word',
  /** Reads what was made until it can be compared with what was asked for. */
  'compare',
  /** Whether it was paid by another way; "not found" counts once the window is over. */
  'look-paid',
  /** The same, again and again, until that is known. */
  'ask-paid',
  /** A quote of the service. */
  'quote',
  /** Reports the provider's ending to the service. */
  'report',
  /** Whether a refund can go to the invoice that a person gave. */
  'check-invoice',
  /** The checked invoice goes to the service, once. */
  'hand-over',
] as const;
export type StepName = (typeof STEPS)[number];

/** One thing to be done outside. Equal ids are the same step, which is begun once. */
export interface Step {
  readonly id: string;
  readonly do: StepName;
  /** Empty: it is about the whole flow. */
  readonly request: string;
  readonly turn: number;
  readonly beganAtMs?: number;
  /** Ids of the events that were judged when it began: its guard lets those pass. */
  readonly reviewed?: readonly string[];
  readonly order?: string;
  readonly stop?: StopEnd;
  /** Of `ask`, while a question is shown: what the lookup had said by then, which is no news. */
  readonly knows?: LookupSays;
  /** Of `void`: what the service turned away is looked up before. */
  readonly looksFirst?: boolean;
  /** Of `void`: a send of its own runs, and is waited for. */
  readonly awaitsSend?: boolean;
  /** A question is shown, so it is asked ever more slowly, and for as long as that takes. */
  readonly isParked?: boolean;
  /** Of `send`: a debt, which stays due if it cannot be sent; and events that prove nothing count as judged. */
  readonly debt?: RefundOrdered;
  /** Of `report`: the event that is reported. */
  readonly event?: string;
  /** Of `void`: of this request alone. */
  readonly only?: string;
  /** Of `send`: it goes out although the lookup cannot tell. */
  readonly unasked?: boolean;
}

/** What a transaction answers about a claim. */
export interface ClaimReading {
  readonly claim: ClaimSays;
  readonly sent: SentBefore;
  /** At the check alone: whether the service is set to take a repeat, and whether it is another request's. */
  readonly repeat?: Repeat;
  readonly isOther?: true;
}

export type Result =
  | {
      readonly of: 'check';
      readonly prepared: FlowPreparation | null;
      readonly refusal: Known['refusal'];
      readonly claims: Readonly<Record<string, ClaimReading>>;
      readonly events: readonly FlowEvent[];
      readonly quote?: Quote;
    }
  | {
      readonly of: 'send';
      readonly answer: Answer;
      readonly repeat: Repeat;
      /** It may have been sent more than once. */
      readonly isRepeat: boolean;
      readonly unwritten: boolean;
      readonly isOther: boolean;
      /** Of one that was not sent: how long the service asks to wait, ms. */
      readonly afterMs: number;
      /** Of a void claim: what was sent under it. */
      readonly sent: SentBefore | null;
      readonly shown: Partial<ForPersons>;
      /** Of one that others have made. */
      readonly paid?: PaidResult;
      /** No worker took it in time. */
      readonly isUntaken?: true;
    }
  /** It cannot be put on the wire: nothing was sent. */
  | { readonly of: 'unsendable'; readonly refusal: Known['refusal'] }
  | {
      readonly of: 'ask' | 'look';
      readonly claim: ClaimSays;
      readonly lookup: LookupSays;
      readonly windowOver: boolean;
      readonly isOther: boolean;
      readonly shown: Partial<ForPersons>;
    }
  | {
      readonly of: 'follow';
      readonly lookup: LookupSays;
      readonly word: string | null;
      /** Of a record that is read as an event is. */
      readonly facts?: Facts;
      readonly shown: Partial<ForPersons>;
    }
  | { readonly of: 'read-inbox'; readonly events: readonly FlowEvent[] }
  | {
      readonly of: 'void';
      readonly isDone: boolean;
      readonly claims: Readonly<Record<string, ClaimReading>>;
      readonly events: readonly FlowEvent[];
      readonly refs?: Readonly<Record<string, ClaimRef>>;
    }
  | { readonly of: 'write-answer' }
  | ({ readonly of: 'order-send'; readonly isTaken: boolean; readonly why?: Cause } & ClaimReading)
  | ({ readonly of: 'take-back' } & ClaimReading)
  | ({ readonly of: 'close' } & ClaimReading)
  | { readonly of: 'last-word'; readonly isClosed: boolean; readonly why: Cause | null }
  | { readonly of: 'quote'; readonly quote: Quote | null; readonly why: string | null }
  | { readonly of: 'report'; readonly status: string; readonly outcome: ReportOutcome }
  | { readonly of: 'compare'; readonly other: OtherRecord | null }
  | ({ readonly of: 'paid' } & PaidResult)
  | { readonly of: 'check-invoice'; readonly given: GivenInvoice | null; readonly why: Cause | null }
  | ({ readonly of: 'hand-over' } & HandOver)
  /** A question to the service that is refused each time. */
  | { readonly of: 'cannot-ask'; readonly why: string }
  /** Its patience is over; it may have been done. */
  | { readonly of: 'no-answer' };

/** What the lookup of an invoice's payment says, whoever has paid. */
export interface PaidResult {
  readonly says: PaidSays;
  /** The status word of a payment. */
  readonly word: string | null;
  readonly shown: Partial<ForPersons>;
}

/** What a send reports besides its answer if there is nothing particular about it. */
export const PLAIN_SEND = {
  of: 'send',
  repeat: 'unknown',
  isRepeat: false,
  unwritten: false,
  isOther: false,
  afterMs: 0,
  sent: null,
  shown: {},
} as const satisfies Omit<Extract<Result, { of: 'send' }>, 'answer'>;

export type Input =
  | { readonly is: 'event'; readonly event: FlowEvent }
  | { readonly is: 'order'; readonly order: NewOrder }
  | { readonly is: 'began' | 'cancelled'; readonly step: Step }
  | { readonly is: 'result'; readonly step: Step; readonly result: Result }
  /** What the flow has reported: to the person who ordered, and to everyone. */
  | { readonly is: 'carried-out'; readonly order: string }
  | { readonly is: 'refused'; readonly order: string; readonly why: Cause }
  | { readonly is: 'shown'; readonly question: Omit<Question, 'sinceMs'> | null };

export type NewOrder = Omit<Order, 'request' | 'cannotTell' | 'result' | 'became' | 'why'>;

const NOTHING_SHOWN: ForPersons = {
  why: null,
  answer: null,
  owner: '',
  rejection: null,
  refused: null,
  other: null,
  asked: null,
  byEvent: false,
};

/** The lookup has shown that it was paid, by whomever. */
export const isPaid = (paid: Pick<Reading<PaidSays>, 'says'> | null): boolean =>
  paid?.says === 'paid' || paid?.says === 'other';

export const NOT_SENT: Request = {
  claim: 'free',
  sent: 'nothing',
  answer: null,
  byClaim: false,
  unwritten: false,
  proofWritten: false,
  lookup: null,
  unaskable: null,
  windowOver: false,
  words: [],
  word: null,
  saidToExist: false,
  underWayUntilMs: 0,
  askUntilMs: 0,
  repeat: 'unknown',
  maybeTwice: false,
  notSent: null,
  shownAtMs: null,
  firstSendAtMs: 0,
  isOther: false,
  compared: null,
  paid: null,
  unasked: false,
  byPerson: false,
  maybeOrdered: false,
  holdBackFailed: false,
  shown: NOTHING_SHOWN,
};

/** The version of the lists in `rules.ts` and `orders.ts`. */
export const RULES = 1;

export function newKnown(
  requests: readonly string[],
  times: Pick<Known, 'timeScale' | 'patienceMs' | 'settleMs' | 'graceMs' | 'deadlineMs'>,
  nowMs: number,
): Known {
  return {
    ...times,
    rules: RULES,
    input: 'unchecked',
    refusal: null,
    prepared: null,
    deadlineAtMs: nowMs + times.deadlineMs,
    requests: Object.fromEntries(requests.map((name) => [name, NOT_SENT])),
    inbox: null,
    stop: null,
    events: [],
    notTaken: [],
    orders: [],
    running: [],
    turn: 0,
    transfer: null,
    refundInvoice: null,
    parked: null,
    askedSinceMs: 0,
  };
}
