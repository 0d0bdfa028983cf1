import type { EntryKind, Posting } from '../ledger.js';
import type { Lifecycle } from './lifecycle.js';
import type { Transaction } from './transactions.js';

export interface Move {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
}

/** What the service reports of a transaction, and under which event name. */
export interface Notice {
  readonly event: string;
  readonly data: object;
}

/**
 * One kind of transaction, distinguished by the operation that makes it. `B` is the body of that operation; methods are
 * pure. A new kind is one object of this shape.
 */
export interface Kind<B = never> {
  /** The operation's name; a name of its own where the interface has none. */
  readonly operation: string;
  /** For people: "Offramp". */
  readonly title: string;
  readonly idPrefix: string;
  readonly lifecycle: Lifecycle;
  amount(body: B): { readonly amount: number; readonly currency: string };
  /** Phone numbers and accounts, whose last digits may choose the ending. */
  parties(body: B): readonly (string | undefined)[];
  callbackUrl(body: B): string | undefined;
  /** Worked out once, when it is accepted. `driftBps` moves the market. */
  figures(body: B, driftBps: number): Readonly<Record<string, string>>;
  /** What money does on going from one status to another; undefined where it stays. `from` is null for the first. */
  move(transaction: Transaction<B>, from: string | null, to: string): Move | undefined;
  /** The data of callbacks and webhooks. */
  data(transaction: Transaction<B>, word: string, at: string): object;
  /** The event that reports a new status; it also names the callback where that has an envelope. */
  readonly event: string;
  /** What the account's webhook reports besides. */
  alsoTells(transaction: Transaction<B>, data: object, at: string): readonly Notice[];
}
