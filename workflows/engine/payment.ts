import type { PaidReading, StatusReading, StepTerms, Pin, Windows, Facts } from '../../activities/types.js';
import { paymentStateOf, type PaymentState } from '../../src/protocol/decisions.js';
import {
  isFinal,
  classifyStatus,
  type Meaning,
  type StatusMap,
  withDeclinedOpen,
} from '../../src/protocol/statuses.js';
import type { OtherRecord } from '../../src/flows/echoes.js';
import { isUnread, type FlowEvent, type SubmitAnswer } from '../../src/protocol/messages.js';
import type { TimelineCode } from '../../src/protocol/vocabulary.js';
import { unlessStopped } from './stop.js';
import { checkInput } from './activities.js';
import { handleEvents, whoSays, type EventRules, differences } from './evidence.js';
import { NO_EVIDENCE, pick, type Evidence } from './event-book.js';
import type { Flow, FlowCarried } from './flow.js';

/** How one kind's payment is followed. */
export interface TrackPlan {
  /** For people: "the crypto send". */
  readonly noun: string;
  readonly words: StatusMap;
  /** Whether the contract has a status lookup: then events are hints, and the lookup decides. */
  readonly hasLookup: boolean;
  /** How long events are awaited before the first lookup, ms. */
  readonly firstLookMs: number;
  /** Stages with the statuses that prove them, first to last. @default the stage stays unchanged */
  readonly stages?: readonly (readonly [stage: string, words: readonly string[]])[];
  /** Keeps data of trusted events besides their statuses. Issues no commands. */
  readonly onEvent?: (payment: Payment, event: FlowEvent) => void;
  /** If no lookup confirms a failure: how long to wait for an event that contradicts it, ms. @default not at all */
  readonly failureGraceMs?: number;
  /** If the service has a record before the POST: whether a status can only occur after it. */
  readonly proves?: (word: string | null) => boolean;
  /** True: events trigger a lookup, and cannot contradict anything, because the service may decide otherwise. */
  readonly isOnlyHinted?: boolean;
  /** True: others can do it too, so that no event is only a hint. */
  readonly byOthersToo?: boolean;
}

/** How one kind's payment is submitted, and then followed. */
export interface PaymentPlan extends TrackPlan {
  /** Name of its submission in the kind's definition. */
  readonly step: string;
  /**
   * If it was refused, or given up before it was sent: whether it was paid in another way, and is to be followed.
   * @default no
   */
  readonly paidAllTheSame?: (flow: Flow, payment: Payment) => Promise<boolean>;
}

/** One payment in the making, of any kind that its definition describes. Travels through continue-as-new. */
export interface Payment extends Evidence {
  /** Grows by what is ordered after the start. */
  input: unknown;
  readonly windows: Windows;
  steps: Readonly<Record<string, StepTerms>>;
  readonly pin: Pin;
  facts: Facts;
  /** The service's answer; null until it is known, and if only an event proved it. */
  answer: unknown;
  /** The answers for the callers who wait for a step, by step. */
  answers: Readonly<Record<string, SubmitAnswer>>;
  /** Every status that was proven or reported, in the order of arrival. */
  words: readonly string[];
  /** By the lookup, or by trusted events if there is none. */
  provenMeanings: readonly Meaning[];
  /** By trusted events, if there is a lookup to confirm them. */
  eventMeanings: readonly Meaning[];
  /** A trusted event reported a final status: look it up now. */
  lookNow: boolean;
  /** The payment at the service may be another payer's; only for kinds that others can pay, too. */
  maybeAnother?: boolean;
  /** Its POST was sent more than once, or its outcome was unknown: what the service says of it may be of a second copy. */
  maybeTwice?: boolean;
  /** The lookup has shown that it was paid: a lower status after that is an older copy's. */
  shownPaid?: PaidReading;
  /** The invoice was paid before it could be read: it may be another one than ours. */
  notCompared?: boolean;
  /** Set if the service's record under our reference turned out to be of another payment. */
  otherRecord?: OtherRecord;
  /** Flow id by which it is looked up, if that is not the flow's own. */
  lookUpAs?: string;
}

export interface PaymentCarried {
  readonly flow: FlowCarried;
  readonly payment: Payment;
}

/** Checks the input. */
export async function preparePayment(flow: Flow, rawInput: unknown): Promise<Payment> {
  const prepared = await unlessStopped(flow, () => checkInput(flow, rawInput));
  flow.handlePlaintext(prepared.allowPlaintext);
  flow.keepFingerprint(prepared.fingerprint);
  flow.terms = prepared.terms ?? null;
  return newPayment(prepared);
}

type NewPayment = Pick<Payment, 'input' | 'windows' | 'steps' | 'pin'>;

/** A payment about which nothing is known yet. */
export function newPayment({ input, windows, steps, pin }: NewPayment): Payment {
  return {
    ...NO_EVIDENCE,
    input,
    windows,
    steps,
    pin,
    facts: {},
    answer: null,
    answers: {},
    words: [],
    provenMeanings: [],
    eventMeanings: [],
    lookNow: false,
  };
}

/** By the lookup, and by trusted events; hints prove nothing. */
export function provenBy(payment: Payment, plan: TrackPlan): readonly Meaning[] {
  return plan.isOnlyHinted ? payment.provenMeanings : payment.words.map((word) => meaningOf(payment, plan, word));
}

/** What a status word means for this payment. */
export function meaningOf({ maybeTwice }: Payment, plan: TrackPlan, word: string | null): Meaning {
  return classifyStatus(maybeTwice === true ? withDeclinedOpen(plan.words) : plan.words, word);
}

/** From now on DECLINED ends nothing, nor does one that came before: it may be of a second copy of the POST. */
export function doubtDeclined(payment: Payment, plan: TrackPlan): void {
  payment.maybeTwice = true;
  if (payment.words.some((word) => meaningOf(payment, plan, word) === 'failed')) return;
  payment.provenMeanings = payment.provenMeanings.filter((meaning) => meaning !== 'failed');
  payment.eventMeanings = payment.eventMeanings.filter((meaning) => meaning !== 'failed');
}

export function paymentState(payment: Payment): PaymentState {
  return paymentStateOf(payment.provenMeanings, payment.eventMeanings);
}

export function handlePaymentEvents(flow: Flow, payment: Payment, plan: TrackPlan): void {
  handleEvents(flow, payment, rulesOf(flow, payment, plan));
}

/** Where there is a lookup, that decides. Before our send it may be about another payment, and lag. */
const isHint = (flow: Flow, plan: TrackPlan): boolean =>
  plan.hasLookup && plan.byOthersToo !== true && flow.money.at !== 'unsent' && flow.money.at !== 'claimed';

/** How events act on a payment. Pure of commands: it runs inside signal handlers. */
export function rulesOf(flow: Flow, payment: Payment, plan: TrackPlan): EventRules {
  return {
    known: () => payment.facts,
    differs: (event) => [
      ...(isUnread(event.facts) && !isHint(flow, plan) ? ['body'] : []),
      ...differences(payment.facts, event.facts),
    ],
    seen: (event) => event.status !== null && payment.words.includes(event.status),
    proves: (event) => plan.proves?.(event.status) ?? true,
    apply: (event) => apply(flow, payment, plan, event),
  };
}

function apply(flow: Flow, payment: Payment, plan: TrackPlan, event: FlowEvent): boolean {
  plan.onEvent?.(payment, event);
  const word = event.status;
  if (word === null || payment.words.includes(word)) return false;
  const meaning = meaningOf(payment, plan, word);
  payment.words = [...payment.words, word];
  if (plan.hasLookup) {
    if (!plan.isOnlyHinted) payment.eventMeanings = [...payment.eventMeanings, meaning];
    payment.lookNow ||= isFinal(meaning) || meaning === 'refund-pending';
  } else payment.provenMeanings = [...payment.provenMeanings, meaning];
  const isKnown = Object.hasOwn(plan.words, word);
  const detail = `${word} (${event.proof ?? 'trusted'})${isKnown ? '' : ': an unknown word, kept; it is not final'}`;
  noteStatus(flow, payment, plan, isKnown ? 'event-applied' : 'status-unknown', detail, whoSays(event));
  return true;
}

/**
 * Takes the result of a lookup, which counts if it is about this payment. A service that answers a repeated reference
 * with its first result accepts what it never executes, and its record is then of another request.
 */
export function takeReading(flow: Flow, payment: Payment, plan: TrackPlan, reading: StatusReading): void {
  const { status, facts } = reading;
  const differs = differences(payment.facts, facts);
  if (differs.length > 0) {
    payment.otherRecord = { differs, ours: pick(payment.facts, differs), theirs: pick(facts, differs) };
    return;
  }
  if (status === null) return;
  const meaning = meaningOf(payment, plan, status);
  if (!payment.provenMeanings.includes(meaning)) payment.provenMeanings = [...payment.provenMeanings, meaning];
  if (!payment.words.includes(status)) payment.words = [...payment.words, status];
  payment.proven = true;
  noteStatus(flow, payment, plan, 'status-looked-up', `${status} (looked up)`, 'service');
}

/** Keeps what the lookup shows of a payment of the invoice: what it does not show later, an older copy says. */
export function keepShown(payment: Payment, found: PaidReading | undefined): void {
  if (found?.says === 'paid' || found?.says === 'other') payment.shownPaid ??= found;
}

/** The furthest stage that any status so far has reached; undefined if the plan has none for it. */
export function stageReached(payment: Payment, plan: TrackPlan): string | undefined {
  return plan.stages?.findLast(([, words]) => words.some((word) => payment.words.includes(word)))?.[0];
}

function noteStatus(
  flow: Flow,
  payment: Payment,
  plan: TrackPlan,
  code: TimelineCode,
  detail: string,
  by: string,
): void {
  const stage = stageReached(payment, plan);
  if (stage === undefined) flow.note(code, detail, by);
  else flow.enter(stage, code, detail, by);
}
