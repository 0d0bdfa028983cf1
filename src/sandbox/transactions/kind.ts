import type { EntryKind, Posting } from '../ledger.js';
import type { Lifecycle } from './lifecycle.js';
import type { Transaction } from './transactions.js';

export interface Move {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
}

/** The service's report about a transaction, and its event name. */
export interface Notice {
  readonly event: string;
  readonly data: object;
}

/**
 * One kind of transaction, distinguished by the operation that makes it. `B` is the body of that operation; methods are
 * pure. A new kind is one object of this shape.
 */
export interface Kind<B = never> {
  /** The operation's name; a name of our own if the interface has none. */
  readonly operation: string;
  /** For people: "Offramp". */
  readonly title: string;
  readonly idPrefix: string;
  readonly lifecycle: Lifecycle;
  amount(body: B): { readonly amount: number; readonly currency: string };
  /** Phone numbers and accounts, whose last digits may choose the ending. */
  parties(body: B): readonly (string | undefined)[];
  callbackUrl(body: B): string | undefined;
  /** Computed once, when it is accepted. `driftBps` moves the market. */
  figures(body: B, driftBps: number): Readonly<Record<string, string>>;
  /** The money movement from one status to another; undefined if there is none. `from` is null for the first. */
  move(transaction: Transaction<B>, from: string | null, to: string): Move | undefined;
  /** The data of callbacks and webhooks. */
  data(transaction: Transaction<B>, word: string, at: string): object;
  /** The event that reports a new status; it also names the callback if that has an envelope. */
  readonly event: string;
  /** Further reports to the account's webhook. */
  alsoTells(transaction: Transaction<B>, data: object, at: string): readonly Notice[];
}
