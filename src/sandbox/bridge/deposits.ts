import type { BridgeDepositRequest } from '../../contract/bridge.js';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { BridgeEnding } from './endings.js';
import type { BridgeMoney, BridgePosition } from './money.js';
import type { RefundConfig } from './refund-config.js';

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
  /** Newest first; more than one only where a repeated reference was executed again. */
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
