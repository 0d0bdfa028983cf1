import type { Core } from '../core.js';
import type { JobKind } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { wordOf } from './lifecycle.js';
import {
  type Transaction,
  createReferenceNumbers,
  type ReferenceNumbers,
  createTransactions,
  type Transactions,
} from './transactions.js';
import { type Admit, createAdmit } from './admit.js';
import { type Carrier, createCarrier, TRANSACTION_JOB } from './carrier.js';
import type { Kind } from './kind.js';

const createWords =
  (deps: { settings: LiveSettings }): StatusWord =>
  ({ lifecycle }, { status }) =>
    wordOf(lifecycle, status, deps.settings.current().vocabulary);

/** The parts that operations with a lifecycle use. */
export interface TransactionTools {
  readonly transactions: Transactions;
  readonly carrier: Carrier;
  readonly admit: Admit;
  readonly wordFor: StatusWord;
  readonly numberOf: ReferenceNumbers;
  readonly jobs: Readonly<Record<string, JobKind>>;
}

export function createTransactionTools(
  core: Core & {
    readonly kindOf: (operation: string) => Kind;
    /** A transaction has a new status. */
    readonly onEntered: (transaction: Transaction) => void;
  },
): TransactionTools {
  const transactions = createTransactions(core);
  const carrier = createCarrier({ ...core, transactions });
  return {
    transactions,
    carrier,
    admit: createAdmit({ ...core, transactions, carrier }),
    wordFor: createWords(core),
    numberOf: createReferenceNumbers(core),
    jobs: { [TRANSACTION_JOB]: carrier.job },
  };
}

/** The current word of a transaction's status on the wire. */
export type StatusWord = (kind: Pick<Kind, 'lifecycle'>, transaction: Pick<Transaction, 'status'>) => string;
