import type { z } from 'zod';
import type { OperationName } from '../contract/index.js';
import type { FlowKind } from '../protocol/vocabulary.js';

/** What an event says, read tolerantly from a webhook's body. */
export interface EventReading {
  /** The caller's reference in the body, where it has one. */
  readonly reference: string | null;
  readonly status: string | null;
  readonly facts: Readonly<Record<string, string>>;
}

/** What the gateway and the activities need to know of one flow kind. One file per kind; the table is `flows`. */
export interface FlowDefinition<Input = unknown> {
  readonly kind: FlowKind;
  /** From a caller's JSON to the normalised input (amounts as decimal strings). Idempotent on its own output. */
  readonly input: z.ZodType<Input>;
  referenceOf(input: Input): string;
  /** What the caller decided, for the fingerprint: without callback URLs, rate ids, cards and time settings. */
  decidedBy(input: Input): unknown;
  /** One line for the Temporal UI: kind, amount, currency; no personal data. */
  summaryOf(input: Input): string;
  /** What leaves the payer, as a decimal string; `currency` may be a token. For totals. Absent where no money moves. */
  moneyOf?(input: Input): { readonly amount: string; readonly currency: string };
  /**
   * Account webhooks that may be about a flow of this kind, by the names of their events. @default any of them, where the
   * reference is one that the flow has sent
   */
  readonly webhooks?: readonly string[];
  /** The flow's POSTs, by the name of their step. */
  readonly submissions?: Readonly<Record<string, Submission<Input>>>;
  /** The status lookup, where the contract has one. */
  readonly status?: StatusSource<Input>;
  /** Undefined where the body is not an object that could be an event of this kind. */
  readEvent(body: unknown): EventReading | undefined;
}

/** One money-moving POST of a flow. */
export interface Submission<Input> {
  readonly operation: OperationName;
  /** The reference that is sent: claims, lookups and the service know it by this. */
  referenceOf(input: Input): string;
  /** What the caller decided of this POST, for its claim's fingerprint. */
  decidedBy(input: Input): unknown;
  /** False where its part of the input comes after the start (by an update). @default always true */
  isGiven?(input: Input): boolean;
  /** The body, by the operation's strict schema. `callbackUrl` is ours. */
  request(input: Input, ours: { readonly callbackUrl: string }): unknown;
  /** Words of trusted events that show this POST done: with one of them in the inbox it is not sent. */
  readonly shownBy: readonly string[];
  /** Facts that events and looked-up records must agree with to be taken for this POST's. */
  factsOf(input: Input): Readonly<Record<string, string>>;
}

/** How the service says where a flow stands. */
export interface StatusSource<Input> {
  readonly operation: OperationName;
  referenceOf(input: Input): string;
  /** Asked besides, where the first one does not know the reference or does not say enough. */
  readonly besides?: { readonly operation: OperationName; isNeeded(record: unknown): boolean };
  /** One word for where it stands, and what can be compared. Undefined: this one does not know it, or was not asked. */
  read(
    record: unknown,
    besides?: unknown,
  ): { readonly status: string | null; readonly facts: Readonly<Record<string, string>> };
}

/** A definition that keeps the type of its input, as callers write it and as it is read. */
export function defineFlow<Schema extends z.ZodType>(
  definition: FlowDefinition<z.output<Schema>> & { readonly input: Schema },
): FlowDefinition<z.output<Schema>> & { readonly input: Schema } {
  return definition;
}

/** A definition of whatever kind: parse with `input` first. */
export type AnyFlow = Omit<FlowDefinition<never>, 'input'> & { readonly input: z.ZodType };
