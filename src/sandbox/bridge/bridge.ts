import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Clock } from '../clock.js';
import type { Announce } from '../deliveries/announce.js';
import type { History, Mover } from '../history.js';
import type { Ledger } from '../ledger.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { BRIDGE_EVENT, bridgeData } from './details.js';
import { type Deposit, type Deposits, positionOf } from './deposits.js';
import { scriptOf, advance, type BridgeInput } from './endings.js';
import { type BridgeMove, moveOn } from './money.js';

export const BRIDGE_JOB = 'bridge-step';

export interface Bridge {
  /** Sets a new deposit going; inside `database.write`. */
  begin(deposit: Deposit): void;
  /**
   * Applies the passing of time, or a report, to a deposit; inside `database.write`. Returns the jobs of its callbacks.
   */
  apply(id: string, input: BridgeInput): readonly number[];
  /** Posts a move of money, and notes it on the deposit; inside `database.write`. */
  move(deposit: Deposit, move: BridgeMove | undefined): void;
  readonly job: JobKind;
}

/** Moves deposits along their lifecycle: status, history, ledger, callback, and the next step. */
export function createBridge(deps: {
  deposits: Deposits;
  history: History;
  ledger: Ledger;
  announce: Announce;
  scheduler: Pick<Scheduler, 'schedule'>;
  clock: Clock;
  settings: LiveSettings;
  /** The crypto has arrived at the settlement provider. */
  onPaid: (deposit: Deposit) => void;
}): Bridge {
  const { deposits, history, ledger, announce, scheduler, clock, settings, onPaid } = deps;

  function planNext(deposit: Deposit, status: BridgeStatus): void {
    const script = scriptOf(deposit.ending);
    if (script.next[status] === undefined) return;
    const { stepMs, slowFactor } = settings.current();
    scheduler.schedule(BRIDGE_JOB, script.slow === true ? stepMs * slowFactor : stepMs, {
      id: deposit.id,
      from: status,
    });
  }

  function move(deposit: Deposit, to: BridgeMove | undefined): void {
    if (to === undefined) return;
    const { kind, postings, paidOut, money } = to;
    ledger.post({ kind, reference: deposit.reference, executionId: deposit.executionId, postings });
    deposits.setMoney(deposit.id, paidOut, money);
  }

  function enter(deposit: Deposit, status: BridgeStatus, by: Mover): readonly number[] {
    // A report may send a deposit back to the beginning; its crypto is paid to the provider once all the same.
    const paid = status === 'PAYMENT_CONFIRMED' && by === 'time' && !history.has(deposit.id, status);
    deposits.setStatus(deposit.id, status);
    history.add(deposit.id, status, by);
    move(deposit, moveOn(positionOf(deposit), status));
    if (paid) onPaid(deposit);
    planNext(deposit, status);
    if (!scriptOf(deposit.ending).callbacks) return [];
    const { reference, request } = deposit;
    const news = { event: BRIDGE_EVENT, reference, status, data: bridgeData(deposit, status, clock) };
    return [...announce.callback({ ...news, url: request.callback_url }), ...announce.webhook(news)];
  }

  function apply(id: string, input: BridgeInput): readonly number[] {
    const deposit = deposits.get(id);
    if (deposit === undefined) return [];
    const status = advance(scriptOf(deposit.ending), deposit.status, input);
    return status === undefined ? [] : enter(deposit, status, input.kind);
  }

  return {
    begin(deposit) {
      history.add(deposit.id, deposit.status, 'request');
      planNext(deposit, deposit.status);
    },
    apply,
    move,
    job: {
      lane: 'commit',
      run: ({ id, from }: { id: string; from: BridgeStatus }) => void apply(id, { kind: 'time', from }),
    },
  };
}
