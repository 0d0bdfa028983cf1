import type { FlowKind } from '../../../src/protocol/vocabulary.js';
import type { Chance } from '../core/chance.js';

/** One movement of money that the driver ordered, in its own words: what the service's books must show. */
export interface Ordered {
  readonly operation: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  /** A text that the request to the service must hold. */
  readonly receiver?: string;
}

export interface SimKind {
  readonly kind: FlowKind;
  /** The operation whose execution is the money movement; null where nothing moves. */
  readonly money: string | null;
  /** What the sandbox makes of it, other than `completed`. */
  readonly endings: readonly string[];
  /** The operation that the ending is for. */
  readonly scenarioFor: string;
  readonly input: (reference: string, chance: Chance) => Record<string, unknown>;
  readonly ordered: (reference: string) => readonly Ordered[];
}

const EVM = '0x3333333333333333333333333333333333333333';
const FALLBACK = '0x1111111111111111111111111111111111111111';
const PHONE = '+254712345678';
const payer = { fullName: 'Sim Payer', phoneNumber: '+27821234567', currency: 'ZAR', amount: '250.50' };
const CARD = { number: '4111111111111111', holder: 'SIM PAYER', expiryMonth: '12', expiryYear: '2031', cvv: '987' };

const FIAT_ENDINGS = ['failed', 'cancelled', 'expired', 'declined', 'slow', 'never', 'review', 'no-callbacks-ever', 'success-after-timeout', 'reversed', 'rejected', 'insufficient-funds'] as const; // prettier-ignore

/** All ten kinds, with amounts of the driver's own. */
export const KINDS: readonly SimKind[] = [
  {
    kind: 'bridge-transfer',
    money: 'createBridgeDeposit',
    scenarioFor: 'createBridgeDeposit',
    endings: ['failed-then-refunded', 'failed-no-refund', 'failed-early', 'no-callbacks-ever', 'no-settlement-ever', 'silent', 'slow', 'statuses-by-callback-only', 'completed-then-refunded', 'mismatching-amount', 'rejected', 'rate-expired'], // prettier-ignore
    input: (reference, chance) => ({
      customer_key: 'customer-1',
      provider_reference_id: reference,
      amount: '1000.50',
      source_currency: 'KES',
      wallet_id: 'wallet-1',
      transaction_type: 'cross_border',
      chain: 'CELO',
      token: 'USDC',
      crypto_payment: { address: FALLBACK, crypto_amount: '7.5' },
      settlement: {
        amount: '100',
        currency: 'ZAR',
        country: 'ZA',
        recipient: { phone_number: '+27821234567', account_holder_name: 'Sim Recipient' },
      },
      ...(chance.yes(0.5) ? { refund: { auto: true } } : {}),
    }),
    ordered: (reference) => [
      { operation: 'createBridgeDeposit', reference, amount: '1000.50', currency: 'KES', receiver: '+27821234567' },
      { operation: 'sendCrypto', reference: `${reference}.refund`, amount: '7.5', currency: 'USDC' },
    ],
  },
  {
    kind: 'invoice-payment',
    money: 'payInvoice',
    scenarioFor: 'payInvoice',
    endings: ['failed', 'cancelled', 'slow', 'never', 'no-callbacks-ever', 'success-after-timeout', 'rejected'],
    input: (referenceId) => ({
      referenceId,
      currency: 'KES',
      amount: '1000.50',
      bank: { accountName: 'Sim Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' },
      payment: { mobileMoney: { accountName: 'Sim Payer', phoneNumber: PHONE, providerNetwork: 'MPESA' } },
    }),
    ordered: (reference) => [
      { operation: 'createInvoice', reference, amount: '1000.50', currency: 'KES', receiver: '0012345678' },
      { operation: 'payInvoice', reference, amount: '1000.50', currency: 'KES', receiver: PHONE },
    ],
  },
  {
    kind: 'onramp',
    money: 'createOnramp',
    scenarioFor: 'createOnramp',
    endings: ['failed', 'cancelled', 'expired', 'slow', 'never', 'review', 'no-callbacks-ever', 'success-after-timeout', 'crypto-failed', 'crypto-never', 'declined', 'rejected'], // prettier-ignore
    input: (referenceId) => ({
      referenceId,
      fiatAmount: '1000.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: EVM,
      mobileMoney: { accountName: 'Sim Payer', phoneNumber: PHONE, providerNetwork: 'MPESA' },
    }),
    ordered: (reference) => [{ operation: 'createOnramp', reference, amount: '1000.50', currency: 'KES', receiver: EVM }], // prettier-ignore
  },
  {
    kind: 'crypto-send',
    money: 'sendCrypto',
    scenarioFor: 'sendCrypto',
    endings: [
      'failed',
      'never',
      'slow',
      'no-callbacks-ever',
      'success-after-timeout',
      'rejected',
      'insufficient-funds',
    ],
    input: (referenceId) => ({ referenceId, receiverAddress: EVM, chain: 'CELO', token: 'USDC', cryptoAmount: '12.5' }),
    ordered: (reference) => [{ operation: 'sendCrypto', reference, amount: '12.5', currency: 'USDC', receiver: EVM }],
  },
  {
    kind: 'offramp',
    money: 'createOfframp',
    scenarioFor: 'createOfframp',
    endings: ['refund-failed', 'failed-then-refunded', 'failed-no-refund', 'failed-early', 'no-callbacks-ever', 'never', 'payout-never', 'slow', 'success-after-timeout', 'review', 'rejected'], // prettier-ignore
    input: (referenceId) => ({
      referenceId,
      cryptoAmount: '12.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      mobileMoneyReceiver: { phoneNumber: PHONE, accountName: 'Sim Receiver', networkProvider: 'MPESA' },
    }),
    ordered: (reference) => [{ operation: 'createOfframp', reference, amount: '12.5', currency: 'USDC', receiver: PHONE }], // prettier-ignore
  },
  {
    kind: 'bank-checkout',
    money: 'createBankCheckout',
    scenarioFor: 'createBankCheckout',
    endings: FIAT_ENDINGS,
    input: (referenceId) => ({ referenceId, ...payer, paymentMethod: 'PAYBYBANK' }),
    ordered: (reference) => [{ operation: 'createBankCheckout', reference, amount: '250.50', currency: 'ZAR' }],
  },
  {
    kind: 'card-deposit',
    money: 'createCardDeposit',
    scenarioFor: 'createCardDeposit',
    endings: FIAT_ENDINGS,
    input: (referenceId) => ({ referenceId, ...payer, card: CARD }),
    ordered: (reference) => [{ operation: 'createCardDeposit', reference, amount: '250.50', currency: 'ZAR' }],
  },
  {
    kind: 'bank-withdrawal',
    money: 'createBankWithdrawal',
    scenarioFor: 'createBankWithdrawal',
    endings: ['failed', 'never', 'slow', 'reversed', 'no-callbacks-ever', 'success-after-timeout', 'review', 'rejected', 'insufficient-funds'], // prettier-ignore
    input: (referenceId) => ({
      referenceId,
      bankDetails: { bankCode: '0250', accountNumber: '62000000001', country: 'ZA' },
      currency: 'ZAR',
      amount: '250.50',
    }),
    ordered: (reference) => [
      { operation: 'createBankWithdrawal', reference, amount: '250.50', currency: 'ZAR', receiver: '62000000001' },
    ],
  },
  {
    kind: 'kyc-check',
    money: null,
    scenarioFor: 'getKycStatus',
    endings: ['kyc-rejected', 'kyc-pending', 'kyc-review', 'kyc-slow', 'kyc-already-approved', 'kyc-already-rejected'],
    input: (kycId) => ({ kycId }),
    ordered: () => [],
  },
  {
    kind: 'mobile-money-watch',
    money: null,
    scenarioFor: 'mobileMoneyDeposit',
    endings: ['failed', 'cancelled', 'never', 'slow', 'expired', 'success-after-timeout'],
    input: (referenceId) => ({ referenceId }),
    ordered: () => [],
  },
];
