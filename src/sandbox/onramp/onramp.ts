import { createHash } from 'node:crypto';
import type { OnrampRequest } from '../../contract/onramp.js';
import { figures } from '../bridge/rates.js';
import { feeOf, less } from '../currency.js';
import type { FiatLeg } from '../deposit/mobile-money.js';
import { customerKey, PAYMENT_CONFIRMED_EVENT } from '../deposit/payment.js';
import { accounts, transfer } from '../ledger/ledger.js';
import type { Kind, Move, Notice } from '../transactions/kind.js';
import type { Transaction } from '../transactions/transaction.js';
import { fiatStatusOf, ONRAMP_LIFECYCLE, onChainStatusOf } from './lifecycle.js';

export const ONRAMP_EVENT = 'transaction.onramp.status.updated';
export const ON_CHAIN_EVENT = 'deposit.onchain.successful';

/** With both ways to pay, mobile money is taken; with neither, the customer chooses at the redirect URL. */
const phoneOf = ({ mobileMoney, bankCheckout }: OnrampRequest) =>
  mobileMoney?.phoneNumber ?? bankCheckout?.phoneNumber ?? 'unknown';

/** Fiat in by mobile money or bank checkout, crypto out to an address. */
export const ONRAMP: Kind<OnrampRequest> = {
  operation: 'createOnramp',
  title: 'Onramp',
  idPrefix: 'ONR',
  lifecycle: ONRAMP_LIFECYCLE,
  amount: ({ fiatAmount, currency }) => ({ amount: fiatAmount, currency }),
  parties: ({ mobileMoney, bankCheckout }) => [mobileMoney?.phoneNumber, bankCheckout?.phoneNumber],
  callbackUrl: ({ callbackUrl }) => callbackUrl,
  figures({ fiatAmount, currency, token }, driftBps) {
    const fee = feeOf(String(fiatAmount), currency);
    const { cryptoAmount } = figures(less(String(fiatAmount), fee), currency, token, driftBps);
    return { fee, cryptoAmount };
  },
  move: (onramp, _from, to) => moveOnramp(onramp, to),
  data: (onramp, word, at) => ({
    referenceId: onramp.reference,
    id: onramp.id,
    status: word,
    mobile_money_status: legWord(fiatStatusOf(onramp.status)),
    crypto_received_status: onChainStatusOf(onramp.status),
    fiatAmount: onramp.body.fiatAmount,
    currency: onramp.body.currency,
    cryptoAmount: Number(onramp.figures['cryptoAmount']),
    chain: onramp.body.chain,
    token: onramp.body.token,
    receiverAddress: onramp.body.receiverAddress,
    transactionHash: hashOf(onramp),
    createdAt: onramp.createdAt,
    updatedAt: at,
  }),
  event: ONRAMP_EVENT,
  alsoTells(onramp, data, at): readonly Notice[] {
    if (onramp.status === 'CRYPTO_PENDING') return [{ event: PAYMENT_CONFIRMED_EVENT, data }];
    return onramp.status === 'SUCCESS' ? [{ event: ON_CHAIN_EVENT, data: onChainEventData(onramp, at) }] : [];
  },
};

/** The fiat leg of an onramp, but for its status. */
export function fiatLegOf({ body, figures: { fee = '0' } }: Transaction<OnrampRequest>): Omit<FiatLeg, 'status'> {
  const { fiatAmount: amount, currency, callbackUrl, mobileMoney, bankCheckout } = body;
  const isCheckout = mobileMoney === undefined && bankCheckout !== undefined;
  const network = isCheckout ? bankCheckout.paymentMethod : (mobileMoney?.providerNetwork ?? 'MPESA');
  return { phoneNumber: phoneOf(body), network, amount, currency, fee, callbackUrl };
}

/** "On-chain leg of a deposit". `crypto_amount` is "a string in the field schema". */
export function onChainLeg(onramp: Transaction<OnrampRequest>) {
  const { chain, token, receiverAddress } = onramp.body;
  const status = onChainStatusOf(onramp.status);
  return {
    chain,
    token,
    public_address: receiverAddress,
    reference_id: onramp.reference,
    // "a number in the sample of a successful status result"
    crypto_amount: status === 'SUCCESSFUL' ? Number(onramp.figures['cryptoAmount']) : onramp.figures['cryptoAmount'],
    transaction_hash: hashOf(onramp),
    status,
    crypto_received_status: status,
  };
}

/** The only event whose shape the interface shows. */
const onChainEventData = (onramp: Transaction<OnrampRequest>, at: string) => ({
  reference_id: onramp.reference,
  status: 'SUCCESSFUL',
  mobile_money_status: 'SUCCESSFUL',
  crypto_received_status: 'SUCCESSFUL',
  amount: onramp.body.fiatAmount,
  currency: onramp.body.currency,
  crypto_amount: Number(onramp.figures['cryptoAmount']),
  chain: onramp.body.chain,
  token: onramp.body.token,
  transaction_hash: hashOf(onramp),
  created_at: onramp.createdAt,
  completed_at: at,
});

/** DepositStatus, in every vocabulary: the member's type is known. */
const legWord = (status: string) =>
  status === 'SUCCESSFUL' ? status : ['INITIATED', 'PENDING', 'REQUIRE_REVIEW'].includes(status) ? 'PENDING' : 'FAILED';

const hashOf = ({ id, status }: Transaction) =>
  status === 'PROCESSING' || status === 'SUCCESS' ? `0x${createHash('sha256').update(id).digest('hex')}` : undefined;

function moveOnramp({ body, figures: { fee = '0', cryptoAmount = '0' } }: Transaction<OnrampRequest>, to: string) {
  const { fiatAmount, currency, token } = body;
  const amount = String(fiatAmount);
  const customer = accounts.customer(customerKey(phoneOf(body)));
  const moves: Readonly<Partial<Record<string, Move>>> = {
    CRYPTO_PENDING: { kind: 'deposit', postings: transfer(customer, accounts.held, currency, amount) },
    SUCCESS: {
      kind: 'settlement',
      postings: [
        ...transfer(accounts.held, accounts.settled, currency, less(amount, fee)),
        ...transfer(accounts.held, accounts.fees, currency, fee),
        ...transfer(accounts.treasury, accounts.cryptoOut, token, cryptoAmount),
      ],
    },
    CRYPTO_FAILED: { kind: 'release', postings: transfer(accounts.held, customer, currency, amount) },
  };
  return moves[to];
}
