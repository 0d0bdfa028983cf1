import type { CryptoSendRequest } from '../../contract/onramp.js';
import type { EntryKind, Posting } from '../ledger.js';
import type { Core } from '../core.js';
import { CRYPTO_SEND } from '../crypto-send.js';
import { INVOICE, INVOICE_PAYMENT } from '../invoice.js';
import { kindOf } from '../kinds.js';
import type { JobKind } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { type Lifecycle, wordOf } from './lifecycle.js';
import {
  type Transaction,
  createReferenceNumbers,
  type ReferenceNumbers,
  createTransactions,
  type Transactions,
} from './transactions.js';
import { type Admit, createAdmit } from './admit.js';
import { type Carrier, createCarrier, TRANSACTION_JOB } from './carrier.js';

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

/** What the operations with a lifecycle are made of. */
export interface TransactionTools {
  readonly transactions: Transactions;
  readonly carrier: Carrier;
  readonly admit: Admit;
  readonly wordFor: StatusWord;
  readonly numberOf: ReferenceNumbers;
  readonly jobs: Readonly<Record<string, JobKind>>;
}

export function createTransactionTools(
  core: Core & { readonly onCryptoArrived: (send: CryptoSendRequest) => void },
): TransactionTools {
  const transactions = createTransactions(core);

  function onEntered({ operation, reference, status, body }: Transaction): void {
    if (status !== 'SUCCESSFUL') return;
    if (operation === CRYPTO_SEND.operation) core.onCryptoArrived(body as CryptoSendRequest);
    if (operation !== INVOICE_PAYMENT.operation) return;
    const [invoice] = transactions.ofReference(reference, INVOICE.operation);
    if (invoice !== undefined) carrier.apply(invoice.id, { kind: 'payment', status: 'PAID' });
  }

  const carrier = createCarrier({ ...core, transactions, kindOf, onEntered });
  return {
    transactions,
    carrier,
    admit: createAdmit({ ...core, transactions, carrier }),
    wordFor: createWords(core),
    numberOf: createReferenceNumbers(core),
    jobs: { [TRANSACTION_JOB]: carrier.job },
  };
}

/** The word that a transaction's status has on the wire at present. */
export type StatusWord = (kind: Pick<Kind, 'lifecycle'>, transaction: Pick<Transaction, 'status'>) => string;

const createWords =
  (deps: { settings: LiveSettings }): StatusWord =>
  ({ lifecycle }, { status }) =>
    wordOf(lifecycle, status, deps.settings.current().vocabulary);
