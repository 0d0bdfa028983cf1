import type { z } from 'zod';
import type { CallableName, OperationName } from '../contract/index.js';
import type { LiveOperation } from '../protocol/live-operations.js';
import type { FlowKind, ParkReason } from '../protocol/vocabulary.js';
import type { FlowTerms } from '../api/flow.js';
import { UNREADABLE } from '../protocol/messages.js';
import type { CarriedOut, FlowReads } from './service-interface.js';

/** The content of an event, read tolerantly from a webhook's body. */
export interface EventReading {
  /** Every reference that the body names, in whichever spelling; `UNREADABLE` for one that cannot be read. */
  readonly references: readonly string[];
  readonly status: string | null;
  readonly facts: Readonly<Record<string, string>>;
  /**
   * The event is about another object: whatever its proof, it can only hold something back, never settle the flow.
   * @default false
   */
  readonly isClaim?: true;
}

/** Everything that gateway and activities know about one flow kind. One file per kind; the table is `flows`. */
export interface FlowDefinition<Input = unknown> {
  readonly kind: FlowKind;
  /** Parses a caller's JSON into the normalised input (amounts as decimal strings). Idempotent on its own output. */
  readonly input: z.ZodType<Input>;
  /** The member of the input that is the flow's reference: the service knows the flow's POSTs by it. */
  readonly referenceMember: string;
  /** The value of that member. */
  referenceOf(input: Input): string;
  /** What the caller decided, for the fingerprint: without callback URLs, rate ids, cards and time settings. */
  decidedBy(input: Input): unknown;
  /** One line for the Temporal UI: kind, amount, currency; no personal data. */
  summaryOf(input: Input): string;
  /** The money that leaves the payer. For totals and for `MAX_AMOUNTS`. Absent if no money moves. */
  moneyOf?(input: Input): MoneyOfFlow;
  /**
   * Every amount that the input names, that of `moneyOf` first: who starts the flow writes them all, and the service may act
   * by any of them. @default that of `moneyOf` alone
   */
  amountsOf?(input: Input): readonly MoneyOfFlow[];
  /** What it moves, from whom to whom, for the person who decides about it. Absent if no money moves. */
  termsOf?(input: Input): FlowTerms;
  /**
   * Names of the account webhooks that may belong to a flow of this kind. @default any event whose reference the flow
   * has sent
   */
  readonly webhooks?: readonly string[];
  /** The flow's POSTs, by the name of their step. */
  readonly submissions?: Readonly<Record<string, SubmissionDefinition<Input>>>;
  /** Money POSTs of the service's own interface that a flow of this kind carries out. @default none */
  readonly carriesOut?: CarriedOut;
  /** Reads of the service's own interface that may show a record of this kind. @default none */
  readonly reads?: FlowReads;
  /** The status lookup, if the contract has one. */
  readonly status?: StatusSource;
  /** The status lookup that only the live service has (`SERVICE_PROFILE`), of a kind without one. */
  readonly liveStatus?: StatusSource<LiveOperation>;
  /** The kind's own word for a refund, if it has no status lookup. */
  readonly refundedWord?: string;
  /** Undefined if the body is not an object that could be an event of this kind. */
  readEvent(body: unknown): EventReading | undefined;
  /** Plays at `npm start`. */
  readonly demo: DemoScene;
  /** Its row in docs/flow-kinds.md. */
  readonly docs: KindDocs;
}

export interface MoneyOfFlow {
  /** A decimal string. */
  readonly amount: string;
  /** Or a token. */
  readonly currency: string;
  /** Path of the input's member with the amount. */
  readonly member: string;
  /** It comes in from outside: no one decides about it before it is there. */
  readonly isPaidIn?: true;
}

/** One flow that is played against the sandbox, with the input of `examples/`, and how it must end. */
export interface DemoScene {
  /** The last part of its reference. */
  readonly name: string;
  readonly title: string;
  readonly expected: 'completed' | 'refunded';
  /**
   * How often the sandbox must have executed each operation for it, and no other operation; including our own refund.
   */
  readonly executes: Readonly<Record<string, number>>;
  /** Members of the input that differ from the example. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** How the sandbox ends it. @default as `completed` */
  readonly ending?: string;
  /** One fault of the sandbox, for its first request, and whether that request must be executed all the same. */
  readonly fault?: { readonly operation: string; readonly kind: string; readonly delayMs?: number; readonly executed: boolean }; // prettier-ignore
  /** Something that starts elsewhere before the flow: a POST to the sandbox's control interface. */
  readonly begunBy?: (reference: string) => { readonly path: string; readonly body: Readonly<Record<string, unknown>> };
  /** No event may have reported its end. */
  readonly isLookedUp?: true;
  /** Text that the flow must not show anywhere. */
  readonly hides?: RegExp;
}

/** The row of a kind in docs/flow-kinds.md: short texts in Markdown, for the columns of its table. */
interface KindDocs {
  readonly story: string;
  /** How it learns how it ended. */
  readonly learns: string;
  readonly guaranteed: string;
  /** Why it parks at its deadline. */
  readonly atDeadline: readonly ParkReason[];
  /** Other reasons to park, in addition to those of every kind. */
  readonly parks?: string;
}

/** One money-moving POST of a flow. */
export interface SubmissionDefinition<Input> {
  readonly operation: OperationName;
  /** What the caller decided about this POST, for its claim's fingerprint. */
  decidedBy(input: Input): unknown;
  /** False if its part of the input comes after the start (by an update). @default always true */
  isGiven?(input: Input): boolean;
  /** The body, by the operation's strict schema. `callbackUrl` is ours. */
  request(input: Input, ours: { readonly callbackUrl: string }): unknown;
  /**
   * Statuses of the trusted events that hold this POST back if they are in the inbox, and its flow has not judged them.
   * @default any, and none at all: each shows that the service knows the reference
   */
  readonly shownBy?: readonly string[];
  /**
   * True: others can do what this POST is for, as an invoice can be paid on its own page. Right before a first send the
   * lookup must show that it was not done. @default false
   */
  readonly byOthersToo?: boolean;
  /** Facts that events and looked-up records must match to belong to this POST. */
  factsOf(input: Input): Readonly<Record<string, string>>;
}

/** How the status of a flow is read from the service. */
export interface StatusSource<Lookup extends CallableName = OperationName> {
  readonly operation: Lookup;
  /** It may not know a record, or know it by another reference than ours: then "not found" says nothing. @default false */
  readonly missProvesNothing?: true;
  /** False for a record that could be of any payment. @default always true */
  proves?(facts: Readonly<Record<string, string>>): boolean;
  /** A second lookup, made if the first one does not know the reference or does not suffice. */
  readonly besides?: { readonly operation: OperationName; isNeeded(record: unknown): boolean };
  /** One status word, and the facts to compare. Undefined: this lookup does not know it, or was not made. */
  read(
    record: unknown,
    besides?: unknown,
  ): { readonly status: string | null; readonly facts: Readonly<Record<string, string>> };
}

/** Members whose value is a text. */
type TextMember<Input> = { [M in keyof Input]-?: Input[M] extends string ? M : never }[keyof Input] & string;

/** A definition that keeps the type of its input, both as callers write it and as it is parsed. */
export function defineFlow<Schema extends z.ZodType>(
  definition: Omit<FlowDefinition<z.output<Schema>>, 'referenceOf'> & {
    readonly input: Schema;
    readonly referenceMember: TextMember<z.output<Schema>>;
  },
): FlowDefinition<z.output<Schema>> & { readonly input: Schema } {
  const { referenceMember } = definition;
  return {
    ...definition,
    referenceOf: (input) => (input as Record<string, string>)[referenceMember] ?? '',
    readEvent: (body) => asOfItsObject(definition, body, definition.readEvent(body)),
  };
}

/**
 * The first words of an event's name say which object it is about; `transaction.status.updated` and unknown names may be
 * of any kind.
 */
const OTHER_OBJECTS = /^(payment|refund|kyc|system|transaction\.(?:deposit|withdrawal|onramp|offramp))(?=\.)/;

const nameOf = (body: unknown): unknown => (body as { readonly event?: unknown } | null | undefined)?.event;

/** An event without a name, or with one that says nothing of its object. */
export function namesNoObject(body: unknown): boolean {
  const name = nameOf(body);
  return typeof name !== 'string' || !OTHER_OBJECTS.test(name);
}

type NamedKind = Pick<FlowDefinition, 'webhooks' | 'status' | 'refundedWord'>;

/**
 * An event that is named after another object reports that object's status: a customer's payment may be confirmed, or a
 * refund completed, while the transfer under the same reference is neither. So it ends no flow of a kind without a
 * lookup; it only shows that the service knows the reference. A completed refund is kept as a claim, which holds back a
 * refund of ours. So is the status of another operation: another system of the account may have used the reference for
 * it, or the service names the flow's own operation so.
 */
function asOfItsObject(
  { webhooks = [], status: lookup, refundedWord }: NamedKind,
  body: unknown,
  reading: EventReading | undefined,
): EventReading | undefined {
  const name = nameOf(body);
  const [object] = (typeof name === 'string' && OTHER_OBJECTS.exec(name)) || [];
  const isOwn = lookup !== undefined || webhooks.some((own) => own.startsWith(`${object}.`));
  if (object === undefined || isOwn || reading === undefined) return reading;
  if (name === 'refund.completed' && refundedWord !== undefined) {
    return { ...reading, status: refundedWord, isClaim: true };
  }
  if (object.startsWith('transaction.')) return { ...reading, isClaim: true };
  const status = reading.status === null ? null : `${object} ${reading.status}`;
  return object === 'refund' ? { ...reading, status, facts: withRefundWord(reading, name) } : { ...reading, status };
}

/** `refund.initiated` says by its name how the refund goes, whatever its status. */
function withRefundWord({ facts }: EventReading, name: unknown): EventReading['facts'] {
  const [, word = UNREADABLE] = /^refund\.([\w.:-]{1,64})$/.exec(String(name)) ?? [];
  const words = [...(facts['refundStatus'] === undefined ? [] : [facts['refundStatus']]), word];
  return { ...facts, refundStatus: words.join(', ') };
}

/** A definition of any kind: parse with `input` first. */
export type AnyFlow = Omit<FlowDefinition<never>, 'input'> & { readonly input: z.ZodType };
