import type { BridgeDepositRequest } from '../../contract/bridge.js';
import { type Admission, type Deposit, type Deposits, positionOf } from '../bridge/deposits.js';
import type { Bridge } from '../bridge/bridge.js';
import { collect, refundConfig } from '../bridge/money.js';
import { type Quotes, QUOTE_LIFE_MS, fiatFee, figures } from '../bridge/quotes.js';
import type { Clock } from '../clock.js';
import type { Adversary } from '../deliveries/adversary.js';
import type { Executions, Ledger } from '../ledger.js';
import { Refusal, badMembers, unknownReference } from '../refusal.js';
import type { LiveSettings } from '../settings.js';
import type { Handler } from './handler.js';

/** "COMPLETED within 600 s" (the live service). */
const ESTIMATED_COMPLETION_MS = 600_000;

export function createCreateBridgeDeposit(deps: {
  admission: Admission;
  executions: Executions;
  deposits: Deposits;
  quotes: Quotes;
  bridge: Bridge;
  ledger: Ledger;
  adversary: Adversary;
  clock: Clock;
  settings: LiveSettings;
  createId: () => string;
}): Handler<'createBridgeDeposit'> {
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

export function createQuoteBridge(deps: {
  quotes: Quotes;
  clock: Clock;
  settings: LiveSettings;
  createId: () => string;
}): Handler<'quoteBridge'> {
  const { quotes, clock, settings, createId } = deps;
  return ({ body }) => {
    const rateId = `rate_${createId()}`;
    const createdAt = clock.now();
    const { source_amount, source_currency, crypto_chain: chain, crypto_token: token } = body;
    quotes.keep(rateId, { source_amount, source_currency, chain, token }, createdAt + QUOTE_LIFE_MS);
    const quoted = figures(String(source_amount), source_currency, token, settings.current().rateDriftBps);
    return {
      message: 'Rate quote created',
      data: {
        rate_id: rateId,
        source_amount,
        source_currency,
        crypto_amount: Number(quoted.cryptoAmount),
        crypto_unit: quoted.cryptoUnit,
        chain,
        token,
        exchange_rate: {
          fiat_to_btc: quoted.fiatToBtc,
          btc_to_msat: Number(quoted.btcToMsat),
          exchange_rate_source: 'sandbox',
        },
        fees: {
          fiat_fee: Number(quoted.fiatFee),
          fiat_fee_currency: source_currency,
          crypto_fee: Number(quoted.cryptoFee),
          crypto_fee_unit: quoted.cryptoFeeUnit,
          fee_percentage: Number(quoted.feePercentage),
        },
        total_cost: source_amount,
        net_crypto_amount: Number(quoted.netCryptoAmount),
        expires_at: clock.iso(createdAt + QUOTE_LIFE_MS),
        created_at: clock.iso(createdAt),
      },
    };
  };
}

/** "any | settlement webhook received | body is valid | the status value carried in the body". */
export function createReportSettlement(deps: { deposits: Deposits; bridge: Bridge }): Handler<'reportSettlement'> {
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
