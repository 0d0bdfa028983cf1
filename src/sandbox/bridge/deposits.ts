import type { BridgeDepositRequest } from '../../contract/bridge.js';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { insufficientFunds, type Refusal, transactionFailed } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import { chooseEnding } from '../transactions/admit.js';
import { type BridgeEnding, BRIDGE_ENDINGS, scriptOf, BRIDGE_MAGIC_AMOUNTS } from './endings.js';
import type { BridgeMoney, BridgePosition, RefundConfig } from './money.js';
import { rateExpired, type Quotes } from './quotes.js';

export interface Deposit {
  /** `kotani_reference_id`. */
  readonly id: string;
  readonly reference: string;
  readonly status: BridgeStatus;
  readonly ending: BridgeEnding;
  readonly request: BridgeDepositRequest;
  readonly crypto: { readonly amount: string; readonly unit: string };
  readonly refundConfig: RefundConfig;
  readonly fee: string;
  readonly paidOut: boolean;
  readonly money: BridgeMoney;
  readonly executionId: number;
  readonly createdAt: string;
}

export interface Deposits {
  /** Inside `database.write`, as all that changes. */
  add(deposit: Omit<Deposit, 'createdAt'>): void;
  setStatus(id: string, status: BridgeStatus): void;
  setMoney(id: string, paidOut: boolean, money: BridgeMoney): void;
  get(id: string): Deposit | undefined;
  /** Newest first; more than one only if a repeated reference was executed again. */
  ofReference(reference: string): readonly Deposit[];
  /** The failed deposit that waits for its crypto at this address. */
  awaitingRefundAt(address: string): Deposit | undefined;
  countByStatus(): Record<string, number>;
}

interface Row {
  readonly id: string;
  readonly reference: string;
  readonly status: BridgeStatus;
  readonly ending: BridgeEnding;
  readonly request: string;
  readonly crypto: string;
  readonly refund_config: string;
  readonly fee: string;
  readonly paid_out: number;
  readonly money: BridgeMoney;
  readonly execution_id: number;
  readonly created_at: number;
}

/** How the ledger sees a deposit. */
export const positionOf = ({ request, fee, crypto, paidOut, money }: Deposit): BridgePosition => ({
  customer: request.customer_key,
  amount: String(request.amount),
  fee,
  currency: request.source_currency,
  crypto,
  paidOut,
  money,
});

export function createDeposits(deps: { database: Database; clock: Clock }): Deposits {
  const { database, clock } = deps;

  const read = (row: Row): Deposit => ({
    id: row.id,
    reference: row.reference,
    status: row.status,
    ending: row.ending,
    request: JSON.parse(row.request) as BridgeDepositRequest,
    crypto: JSON.parse(row.crypto) as Deposit['crypto'],
    refundConfig: JSON.parse(row.refund_config) as RefundConfig,
    fee: row.fee,
    paidOut: row.paid_out === 1,
    money: row.money,
    executionId: row.execution_id,
    createdAt: clock.iso(row.created_at),
  });

  return {
    add(deposit) {
      database.run(
        `INSERT INTO deposits (id, reference, status, ending, request, crypto, refund_config, fallback_address, fee,
           paid_out, money, execution_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        deposit.id,
        deposit.reference,
        deposit.status,
        deposit.ending,
        JSON.stringify(deposit.request),
        JSON.stringify(deposit.crypto),
        JSON.stringify(deposit.refundConfig),
        deposit.refundConfig.fallback_address,
        deposit.fee,
        deposit.paidOut ? 1 : 0,
        deposit.money,
        deposit.executionId,
        clock.now(),
      );
    },
    setStatus(id, status) {
      database.run('UPDATE deposits SET status = ? WHERE id = ?', status, id);
    },
    setMoney(id, paidOut, money) {
      database.run('UPDATE deposits SET paid_out = ?, money = ? WHERE id = ?', paidOut ? 1 : 0, money, id);
    },
    get(id) {
      const row = database.get<Row>('SELECT * FROM deposits WHERE id = ?', id);
      return row && read(row);
    },
    ofReference: (reference) =>
      database
        .all<Row>('SELECT * FROM deposits WHERE reference = ? ORDER BY execution_id DESC', reference)
        .map((row) => read(row)),
    awaitingRefundAt(address) {
      const row = database.get<Row>(
        `SELECT * FROM deposits WHERE fallback_address = ? AND status = 'FAILED' AND money = 'held' AND paid_out = 1`,
        address,
      );
      return row && read(row);
    },
    countByStatus() {
      const rows = database.all<{ status: string; n: number }>(
        'SELECT status, COUNT(*) AS n FROM deposits GROUP BY status',
      );
      return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
    },
  };
}

export interface Admission {
  /**
   * The ending of this deposit: by its reference's scenario, its amount, or its recipient's number, else `completed`.
   */
  endingFor(request: BridgeDepositRequest): BridgeEnding;
  /** Why it is not accepted, or undefined; inside `database.write`. */
  refusal(request: BridgeDepositRequest, ending: BridgeEnding): Refusal | undefined;
}

export function createAdmission(deps: { scenarios: Scenarios; quotes: Quotes }): Admission {
  const { scenarios, quotes } = deps;

  function scripted(reference: string, ending: BridgeEnding): Refusal | undefined {
    const { refuses } = scriptOf(ending);
    switch (refuses) {
      case undefined:
        return undefined;
      case 'transaction-failed':
        return transactionFailed();
      case 'insufficient-funds':
        return insufficientFunds();
      case 'rate-expired': {
        const times = scenarios.get(reference)?.times ?? 1;
        if (times === 0) return undefined;
        scenarios.set(reference, { ending, times: times - 1 });
        return rateExpired();
      }
      default:
        return refuses satisfies never;
    }
  }

  return {
    endingFor({ provider_reference_id: reference, amount, settlement: { recipient } }) {
      const choices = { endings: BRIDGE_ENDINGS, magic: BRIDGE_MAGIC_AMOUNTS };
      const parties = [recipient.phone_number, recipient.bank_account_number];
      const request = { operation: 'createBridgeDeposit', reference, amount, parties };
      return chooseEnding({ scenarios, choices }, request) as BridgeEnding;
    },
    refusal(request, ending) {
      const reference = request.provider_reference_id;
      const refused = scripted(reference, ending);
      if (refused !== undefined || request.rate_id === undefined) return refused;
      const { amount, source_currency, chain, token } = request;
      return quotes.refusal(request.rate_id, reference, { source_amount: amount, source_currency, chain, token });
    },
  };
}
