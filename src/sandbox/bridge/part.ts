import { Big } from 'big.js';
import type { BridgeDepositRequest } from '../../contract/bridge.js';
import type { Core } from '../core.js';
import type { Handler, Handlers } from '../handler.js';
import type { JobKind } from '../scheduler.js';
import { createProvider, PROVIDER_JOB } from '../provider.js';
import { badMembers, Refusal, unknownReference } from '../refusal.js';
import {
  type Admission,
  createAdmission,
  createDeposits,
  type Deposit,
  type Deposits,
  positionOf,
} from './deposits.js';
import { type Bridge, BRIDGE_JOB, createBridge } from './bridge.js';
import { collect, giveBack, refundConfig } from './money.js';
import { createQuoteBridge, createQuotes, fiatFee, figures, type Quotes } from './quotes.js';

export interface BridgePart {
  readonly handlers: Pick<Handlers, 'quoteBridge' | 'createBridgeDeposit' | 'reportSettlement'>;
  readonly jobs: Readonly<Record<string, JobKind>>;
  readonly deposits: Deposits;
  /** Crypto arrived at an address: if a failed deposit waited for it, its customer gets the fiat back. */
  cryptoArrived(address: string, token: string, amount: number): void;
}

/** The bridge, put together: its operations, its jobs, and the settlement provider. */
export function createBridgePart(core: Core & { readonly settlementUrl: () => string }): BridgePart {
  const deposits = createDeposits(core);
  const quotes = createQuotes(core);
  const provider = createProvider({ ...core, deposits });
  const bridge = createBridge({ ...core, deposits, onPaid: (deposit) => provider.paid(deposit) });
  const admission = createAdmission({ ...core, quotes });
  return {
    deposits,
    cryptoArrived(address, token, amount) {
      const deposit = deposits.awaitingRefundAt(address);
      if (deposit === undefined || deposit.crypto.unit !== token) return;
      if (new Big(amount).gte(deposit.crypto.amount)) bridge.move(deposit, giveBack(positionOf(deposit), 'refund'));
    },
    jobs: { [BRIDGE_JOB]: bridge.job, [PROVIDER_JOB]: provider.job },
    handlers: {
      quoteBridge: createQuoteBridge({ ...core, quotes }),
      createBridgeDeposit: createCreateBridgeDeposit({ ...core, admission, deposits, quotes, bridge }),
      reportSettlement: createReportSettlement({ deposits, bridge }),
    },
  };
}

/** "COMPLETED within 600 s" (the live service). */
const ESTIMATED_COMPLETION_MS = 600_000;

function createCreateBridgeDeposit(
  deps: Core & {
    readonly admission: Admission;
    readonly deposits: Deposits;
    readonly quotes: Quotes;
    readonly bridge: Bridge;
  },
): Handler<'createBridgeDeposit'> {
  const { admission, executions, deposits, quotes, bridge, ledger, adversary, clock, settings, createId } = deps;

  function cryptoOf(body: BridgeDepositRequest): Deposit['crypto'] {
    const { amount_msat, crypto_amount } = body.crypto_payment;
    if (amount_msat !== undefined && body.token === 'MSAT') return { amount: String(amount_msat), unit: 'MSAT' };
    if (crypto_amount !== undefined) return { amount: String(crypto_amount), unit: body.token };
    const quoted = figures(String(body.amount), body.source_currency, body.token, settings.current().rateDriftBps);
    return { amount: quoted.cryptoAmount, unit: quoted.cryptoUnit };
  }

  return ({ body }) => {
    const reference = body.provider_reference_id;
    const repeated = executions.answerToRepeat('createBridgeDeposit', reference);
    if (repeated !== undefined) return repeated;
    const ending = admission.endingFor(body);
    const refused = admission.refusal(body, ending);
    if (refused instanceof Refusal) return refused;
    if (body.rate_id !== undefined) quotes.use(body.rate_id, reference);

    const { amount, source_currency: currency } = body;
    const executionId = executions.record({
      operation: 'createBridgeDeposit',
      reference,
      amount: String(amount),
      currency,
      body,
    });
    const id = `KOT-${createId()}`;
    const crypto = cryptoOf(body);
    const deposit: Deposit = {
      id,
      reference,
      status: 'DEPOSIT_INITIATED',
      ending,
      request: body,
      crypto,
      refundConfig: refundConfig(body, id, crypto, clock),
      fee: fiatFee(String(amount)),
      paidOut: false,
      money: 'held',
      executionId,
      createdAt: clock.iso(),
    };
    deposits.add(deposit);
    ledger.post({ kind: 'deposit', reference, executionId, postings: collect(positionOf(deposit)) });
    bridge.begin(deposit);
    const early = adversary.isEarly(reference) ? bridge.apply(id, { kind: 'time', from: deposit.status }) : [];
    const answer = executions.answered(executionId, { message: 'Bridge deposit created', data: answerData(deposit) });
    return { ...answer, early };
  };

  function answerData(deposit: Deposit) {
    return {
      kotani_reference_id: deposit.id,
      provider_reference_id: deposit.reference,
      status: deposit.status,
      chain: deposit.request.chain,
      token: deposit.request.token,
      payment_hash: deposit.request.crypto_payment.payment_hash,
      refund_config: deposit.refundConfig,
      estimated_completion: clock.iso(clock.now() + ESTIMATED_COMPLETION_MS),
      created_at: deposit.createdAt,
    };
  }
}

/** "any | settlement webhook received | body is valid | the status value carried in the body". */
function createReportSettlement(deps: { deposits: Deposits; bridge: Bridge }): Handler<'reportSettlement'> {
  const { deposits, bridge } = deps;
  return ({ body }) => {
    const deposit = deposits.get(body.kotani_reference_id);
    if (deposit === undefined) return unknownReference('Bridge deposit', body.kotani_reference_id);
    if (deposit.reference !== body.provider_reference_id) {
      return badMembers([{ path: 'provider_reference_id', message: 'belongs to another kotani_reference_id' }]);
    }
    bridge.apply(deposit.id, { kind: 'report', status: body.status });
    return { message: 'Settlement status received', data: {} };
  };
}
