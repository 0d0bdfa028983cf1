import type { StartedByDriver } from '../driver/driver.js';
import type { SimSandbox } from '../world/sandbox.js';

/** One committed entry of the service: this operation was executed once more for this reference. */
interface Executed {
  readonly operation: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
}

export interface Entry {
  readonly kind: string;
  readonly reference: string;
  readonly postings: readonly { readonly account: string; readonly currency: string; readonly amount: string }[];
}

/** `none`: no record. `owed`: it failed, and the service keeps a customer's money. */
type PaymentState = 'none' | 'pending' | 'settled' | 'failed' | 'refunded' | 'owed';

/** The service's own rows, read without any code of the product. */
export interface Book {
  executions(): readonly Executed[];
  entries(): readonly Entry[];
  paymentStateOf(flow: StartedByDriver | undefined): PaymentState;
  wordOf(flow: StartedByDriver): string | undefined;
  /** The refund address that the service gave for this deposit. */
  fallbackOf(reference: string): string | undefined;
}

const WORDS: Readonly<Record<string, PaymentState>> = {
  SUCCESSFUL: 'settled',
  SUCCESS: 'settled',
  COMPLETED: 'settled',
  APPROVED: 'settled',
  PAID: 'settled',
  FAILED: 'failed',
  CANCELLED: 'failed',
  DECLINED: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed',
  NOT_RECEIVED: 'failed',
  FIAT_FAILED: 'failed',
  FIAT_CANCELLED: 'failed',
  FIAT_DECLINED: 'failed',
  FIAT_EXPIRED: 'failed',
  CRYPTO_FAILED: 'refunded',
  REVERSED: 'refunded',
  REFUNDED: 'refunded',
  REFUND_PENDING: 'owed',
  REFUND_FAILED: 'owed',
};

const HELD = 'service:held';

export function createBook(sandbox: SimSandbox): Book {
  const entries = (): readonly Entry[] =>
    sandbox.all('SELECT kind, reference, postings FROM entries ORDER BY id').map((row) => ({
      kind: String(row['kind']),
      reference: String(row['reference']),
      postings: JSON.parse(String(row['postings'])) as Entry['postings'],
    }));

  function wordOf({ kind, reference, record }: StartedByDriver): string | undefined {
    const [row] =
      kind === 'bridge-transfer'
        ? sandbox.all('SELECT status FROM deposits WHERE reference = ? ORDER BY rowid DESC LIMIT 1', reference)
        : sandbox.all(
            'SELECT status FROM transactions WHERE reference = ? AND operation = ? ORDER BY number DESC LIMIT 1',
            reference,
            record,
          );
    return row === undefined ? undefined : String(row['status']);
  }

  return {
    executions: () =>
      sandbox.all('SELECT operation, reference, amount, currency FROM executions ORDER BY id').map((row) => ({
        operation: String(row['operation']),
        reference: String(row['reference']),
        amount: String(row['amount']),
        currency: String(row['currency']),
      })),
    entries,
    wordOf,
    fallbackOf: (reference) =>
      sandbox
        .all('SELECT fallback_address FROM deposits WHERE reference = ?', reference)
        .map((row) => String(row['fallback_address']))[0],
    paymentStateOf(flow) {
      const word = flow === undefined ? undefined : wordOf(flow);
      if (flow === undefined || word === undefined) return 'none';
      const state = WORDS[word] ?? 'pending';
      if (state !== 'failed') return state;
      const isHeld = heldOf(entries(), flow.reference) > 0n;
      return isHeld || (word === 'FAILED' && cryptoWasPaid(entries(), flow.reference)) ? 'owed' : 'failed';
    },
  };
}

/** What the service has collected for a reference and neither passed on nor given back, in millionths of any currency. */
function heldOf(entries: readonly Entry[], reference: string): bigint {
  return entries
    .filter((entry) => entry.reference === reference)
    .flatMap(({ postings }) => postings)
    .filter(({ account }) => account === HELD)
    .reduce((sum, { amount }) => sum + units(amount), 0n);
}

/** A bridge transfer that failed after the crypto was paid owes a refund, whoever holds the fiat. */
function cryptoWasPaid(entries: readonly Entry[], reference: string): boolean {
  const kinds = new Set(entries.filter((entry) => entry.reference === reference).map(({ kind }) => kind));
  return kinds.has('crypto-payment') && !kinds.has('refund') && !kinds.has('settlement');
}

const DECIMALS = 18;

/** A decimal string as a whole number of the smallest part, exactly. */
export function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS));
  return text.startsWith('-') ? -value : value;
}
