import type { CryptoSendRequest } from '../../contract/onramp.js';
import type { Core } from '../core.js';
import { CRYPTO_SEND } from '../crypto-send/crypto-send.js';
import { INVOICE } from '../invoice/invoice.js';
import { INVOICE_PAYMENT } from '../invoice/invoice-payment.js';
import { kindOf } from '../kinds.js';
import type { JobKind } from '../scheduler.js';
import { type Admit, createAdmit } from './admit.js';
import { type Carrier, createCarrier, TRANSACTION_JOB } from './carrier.js';
import { createReferenceNumbers, type ReferenceNumbers } from './reference-numbers.js';
import type { Transaction } from './transaction.js';
import { createTransactions, type Transactions } from './transactions.js';
import { createWords, type Words } from './words.js';

/** What the operations with a lifecycle are made of. */
export interface TransactionTools {
  readonly transactions: Transactions;
  readonly carrier: Carrier;
  readonly admit: Admit;
  readonly wordFor: Words;
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
