import type { Cause } from '../../src/protocol/causes.js';
import type { Ending, Evidence, PaymentState, PostEvidence, PostStep } from '../../src/protocol/decisions.js';
import type { Meaning, StatusMap } from '../../src/protocol/statuses.js';
import type {
  EndReason,
  FlowKind,
  FlowState,
  ParkAction,
  ParkReason,
  TimelineCode,
} from '../../src/protocol/vocabulary.js';
import type { Facts } from '../../activities/types.js';
import type { FlowTerms } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import type { RefundOrdered } from '../bridge/known.js';
import type { Event, Input, Known, Order, Request, Result, Step } from './known.js';

/** A kind of flow as data. */
export interface Plan {
  readonly kind: FlowKind;
  /** For people: "the crypto send". */
  readonly noun: string;
  readonly words: StatusMap;
  /** The same of a payment that may be another's, who can try again. @default the same words */
  readonly attemptWords?: StatusMap;
  /** How long events are awaited before the first lookup of a status, ms before scaling. */
  readonly firstLookMs: number;
  /** Between two lookups of a status that is known, ms before scaling. @default the cadence of polling */
  readonly lookEveryMs?: number;
  /** How long a failure that only events report waits for an event against it, ms before scaling. */
  readonly graceMs: number;
  /** The activity of the first check. @default `checkFlow` */
  readonly check?: 'checkFlow' | 'checkBridgeTransfer';
  /** In their order: the next one is due once nothing of the one before can still leave. */
  readonly requests: readonly RequestPlan[];
  /** Stages with the statuses that prove them, first to last. @default the stage stays as it is */
  readonly stages?: readonly (readonly [stage: string, words: readonly string[]])[];
  /** Events only trigger a lookup, and contradict nothing: the service may decide otherwise. @default false */
  readonly isOnlyHinted?: true;
  /** Why it parks at its deadline. @default by what is claimed about the settlement */
  readonly overdueAs?: ParkReason;
  /** The sentences of its ends. @default those of a payment */
  readonly ends?: { readonly succeeded: string; readonly failed: readonly [reason: EndReason, detail: string] };
  /** Rules of this kind alone, before the general ones. */
  readonly rules?: readonly Rule[];
  /** Rules about what became of it, once its answer is known, before the general ones. */
  readonly settlement?: readonly Rule[];
  /** Rules about orders of this kind alone, before the general ones. */
  readonly orderRules?: readonly OrderRule[];
  /** Why no refund invoice is taken now; null: one is. @default the kind takes none */
  readonly whyNoInvoice?: (v: View) => Cause | null;
  /** Why an order of these cannot be carried out, besides what is proven. */
  readonly whyNot?: (o: Ordered) => Cause | null;
  /** Why another send, which was ordered, was not made: shown with the question. Null: nothing kept it back. */
  readonly whyNotMade?: (v: View) => string | null;
  /** Why no approval of a quote is taken now; null: one is. @default the kind takes none */
  readonly whyNoApproval?: (v: View) => Cause | null;
  /** The terms that are shown. @default those of the input */
  readonly termsOf?: (known: Known) => FlowTerms | null;
  /** The service's own reference in its answer. @default the answer's id */
  readonly serviceReferenceOf?: (answer: unknown) => string | null;
  /** What its rules derive of a view. @default nothing */
  readonly derive?: (v: Omit<View, 'own'>) => unknown;
  /** Takes the order to pay, by the update `pay`. @default false */
  readonly takesPay?: true;
  /** What the timeline says besides, after this input. */
  readonly tells?: (before: View, input: Input, after: View) => readonly Note[];
  /** What is proven may be of another payment: then what was shown of it proves nothing against an order. */
  readonly mayBeOfAnother?: (v: View) => boolean;
  /** The sentence of an end. @default that of a payment */
  readonly detailOf?: (v: View, end: End) => string | undefined;
  /** What is shown beside an event that differs. @default the facts that were compared */
  readonly shownFacts?: (known: Known) => Facts;
  /** Orders that are not possible now, besides. */
  readonly impossible?: (v: View, reason: ParkReason) => readonly ParkAction[];
  /** What a person is shown about its own reasons to park. */
  readonly evidenceOf?: (v: View, reason: ParkReason) => Readonly<Record<string, unknown>> | undefined;
  /** What the timeline says besides, once the service has answered. */
  readonly noteOfAnswer?: (
    input: unknown,
    answer: unknown,
  ) => readonly [code: TimelineCode, detail: string] | undefined;
}

export interface RequestPlan {
  /** Name of the submission in the kind's definition. */
  readonly name: string;
  readonly operation: string;
  /** For people: "the invoice". @default that of the plan */
  readonly noun?: string;
  /** What its words mean. @default the words of the plan */
  readonly words?: StatusMap;
  /** What we know of it. @default the facts of the check */
  readonly factsOf?: (known: Known) => Facts | null;
  /** Facts of an event that differ, besides those that are compared one by one. */
  readonly alsoDiffers?: (known: Known, theirs: Facts) => readonly string[];
  /** An untrusted event says more than its ending against what we would do by ourselves. */
  readonly claimsMore?: (known: Known, ours: readonly Said[]) => (event: FlowEvent) => boolean;
  /** No event is about it: they are about this request. */
  readonly eventsOf?: string;
  /** Its send is made by this, under its claim. @default by the kind's definition */
  readonly send?: (context: Context, step: Step, known: Known) => Promise<Result>;
  /** It is a debt, which stays due if it cannot be sent: on what it is sent. */
  readonly debtOf?: (v: View) => RefundOrdered;
  /** Under which flow id, by which input and by which reference its status is looked up. @default the flow's own */
  readonly lookUpAs?: (known: Known) => { readonly flowId: string; readonly input: unknown; readonly by?: string };
  /** The stage while it is sent, and what the timeline calls that. @default submitting, sending */
  readonly sending?: { readonly stage: string; readonly code: TimelineCode; readonly accepted?: TimelineCode };
  /** What is known by now is against a repeat that no person orders. @default nothing is */
  readonly mayNotRepeat?: (v: View) => boolean;
  /** Why it parks at the deadline. @default as the plan says */
  readonly overdueAs?: ParkReason;
  /** Why it parks while its outcome is unknown. @default by what was asked */
  readonly unknownAs?: ParkReason;
  /** How the flow ends if a person closes it as not executed. @default not_executed */
  readonly closedAs?: EndReason;
  /** Nothing of it can leave any more, so that the next one may be due. @default never */
  readonly isOver?: (v: View) => boolean;
  /** What it makes moves no money, so that a flow may end unmoved after it. @default false */
  readonly movesNothing?: true;
  /**
   * Others can do it, too: its lookup shows theirs as well, and is asked before the first send, and before every end that
   * says that nothing moved. @default false
   */
  readonly byOthersToo?: true;
  /** Whether such a word of an event says that the service has it, or may have it. @default each does */
  readonly reports?: (word: string | null, isSent: boolean) => boolean;
  /** Whether the interface can show what became of it. `live`: only the live service can, if the run may ask it. */
  readonly lookUp: 'own' | 'live' | 'none';
  /** What its lookup's record is compared with. @default what events are */
  readonly factsOfRecord?: (known: Known) => Facts | null;
  /**
   * The lookup may not know it: then "not found" proves nothing, and trusted events prove its ending, too. @default false:
   * the lookup decides
   */
  readonly provenByEvents?: true;
  /** Its rules read the facts of its record, as those of an event. @default false: its status alone counts */
  readonly keepsRecord?: true;
  /** It was made elsewhere, and the flow only follows it, which moves nothing: says what it waits for. */
  readonly watching?: string;
  /**
   * The gateway that keeps what a send needs (a card) makes it, one attempt at a time, and nobody can order another one.
   * @default false: any worker makes it
   */
  readonly byGateway?: true;
}

/** What an event says of a request. */
export interface Said {
  readonly of: Event;
  readonly meaning: Meaning;
  /** Names of the facts in which it differs from what we know, or that cannot be read. */
  readonly differs: readonly string[];
}

/** An entry of the timeline; with a stage, from then on the flow is in that. */
export interface Note {
  readonly code: TimelineCode;
  readonly detail: string;
  readonly by?: string;
  readonly stage?: string;
}

/** What follows from what is known. Rules speak in these words. */
export interface View {
  readonly known: Known;
  readonly plan: Plan;
  readonly nowMs: number;
  readonly is: Readonly<Record<Condition, boolean>>;
  readonly requestPlan: RequestPlan;
  readonly request: Request;
  /** Names of the requests before it, which are over. */
  readonly over: readonly string[];
  /** What each event says, once it can be compared. */
  readonly said: readonly Said[];
  /** Its send, while it runs. */
  readonly send: Step | undefined;
  readonly post: PostEvidence;
  /** Whether the service has it. */
  readonly executed: Evidence | 'other';
  readonly postStep: PostStep;
  readonly state: PaymentState;
  /** Endings that the lookup and trusted events prove. */
  readonly endings: readonly Ending[];
  /** Trusted events about which a person is to decide. */
  readonly mismatches: readonly Said[];
  /** Trusted events of this payment. */
  readonly ours: readonly Said[];
  /** Those of them which say that the service has it, or that others have paid. */
  readonly reporting: readonly Said[];
  /** Untrusted events that nothing corroborates. */
  readonly claimed: readonly Said[];
  readonly graceUntilMs: number;
  /** The first order that has no reply. */
  readonly order: Order | undefined;
  /** What the plan derives of all that, once. */
  readonly own: unknown;
}

/** Each yes-or-no that rules ask for, as a sentence. The model turns each of them around. */
export const CONDITIONS = {
  hasLookup: 'The service has a lookup for the POST, and the run may use it.',
  shownOtherwise:
    'Its lookup, which may not know all, has shown it with a status that is no failure: an event alone does not fail it.',
  overdue: "The flow's deadline has passed.",
  sending: 'A send runs.',
  maybeSent: 'A POST of the flow may have been sent, as far as is known.',
  elsewhere: 'It was paid by another way, and nothing of ours may have been sent.',
  reported: 'A trusted event says that the service has it, or something else under its reference.',
  watches: 'What the flow follows was made elsewhere: the flow itself moves nothing.',
  vetoed:
    'It failed or was refused, no lookup decides, and an untrusted event claims another ending or cannot be read.',
  inboxAsked: 'The inbox was asked in this turn.',
  inboxRead: 'The inbox was read in this turn.',
  looked: 'Claim and lookup were asked in this turn, or there is no lookup.',
  asked: 'Whether it was paid by another way was asked in this turn, and since the last wait; or others cannot pay it.',
  lookedAtDeadline: 'Inbox and lookup were asked after the deadline.',
  hinted: 'An event reports a status that ends the payment, and the lookup has not shown it.',
  underWay: 'A POST that was sent may still be under way.',
  refundPending: 'It is proven that the service owes a refund.',
  inGrace: 'A failure that only events report is so recent that another event may contradict it.',
  untrusted: 'An untrusted event says something that nothing corroborates.',
  stopAsked: 'It was tried in this turn to void the claims.',
} as const;
export type Condition = keyof typeof CONDITIONS;

/** The first rule that applies decides what should be so now. */
export interface Rule {
  readonly name: string;
  /** One sentence: what is so, and what follows. docs/decisions.md prints it. */
  readonly says: string;
  readonly when: (v: View) => boolean;
  readonly follows: (v: View) => Situation;
}

/** What should be so now. A step that runs and is not wanted any more is given up. */
export interface Situation {
  readonly steps: readonly Step[];
  readonly park?: ParkReason;
  /** The event that a person is asked about. */
  readonly about?: string;
  readonly end?: End;
  /** Decide again at this moment, at the latest; ms. */
  readonly wakeAtMs?: number;
  /** It only reads once more: a question that is shown stands meanwhile. */
  readonly isCheck?: true;
}

/** How a flow ends. */
export interface End {
  readonly state: Exclude<FlowState, 'running' | 'parked'>;
  readonly reason: EndReason | null;
  /** The order of a person that decided it. */
  readonly order?: string;
}

/** The first rule that applies decides what becomes of an order. */
export interface OrderRule {
  readonly name: string;
  /** One sentence, printed in docs/decisions.md. */
  readonly says: string;
  readonly when: (o: Ordered) => boolean;
  readonly follows: (o: Ordered) => Reply;
}

/** An order that has no reply yet, in the situation as it is now. */
export interface Ordered {
  readonly v: View;
  readonly situation: Situation;
  readonly order: Order;
}

export interface Reply {
  /** Wanted besides what the situation wants. */
  readonly steps?: readonly Step[];
  /** Wanted in place of what the situation wants. */
  readonly instead?: readonly Step[];
  readonly says?: Input;
}

/** What every step needs besides what is known. */
export interface Context {
  readonly flowId: string;
  readonly plan: Plan;
  readonly timeScale: number;
  readonly rawInput: unknown;
}
