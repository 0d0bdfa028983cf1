import type { MoneyOperationName } from '../../../src/contract/index.js';
import type { FlowKind } from '../../../src/protocol/vocabulary.js';
import { transferInput } from '../../harness/inputs.js';

/** One money-moving operation, and a flow that makes it. */
export interface Example {
  readonly kind: FlowKind;
  /** Name of the operation's step in the definition of its kind; null for the bridge, which is told by hand. */
  readonly step: string | null;
  input(reference: string): Record<string, unknown>;
  /** The word of the sandbox's record at which an event is told; without it the flow hears of nothing and looks up. */
  readonly toldAt?: string;
  /** An invoice that is only paid was generated before, elsewhere. */
  readonly before?: 'invoice';
}

const PHONE = '+254712345678';
const ADDRESS = '0x3333333333333333333333333333333333333333';
const mobileMoney = { phoneNumber: PHONE, providerNetwork: 'MPESA' };
export const INVOICE = { currency: 'KES', amount: 250.5, bank: { accountNumber: '0012345678' } } as const;

/** Every money-moving operation of the contract: a new one without an example does not compile. */
export const EXAMPLES: Readonly<Record<MoneyOperationName, Example>> = {
  createOnramp: {
    kind: 'onramp',
    step: 'create',
    input: (referenceId) => ({
      referenceId,
      fiatAmount: '250.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: ADDRESS,
      mobileMoney,
    }),
  },
  sendCrypto: {
    kind: 'crypto-send',
    step: 'send',
    input: (referenceId) => ({
      referenceId,
      receiverAddress: ADDRESS,
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '12.50',
    }),
  },
  createOfframp: {
    kind: 'offramp',
    step: 'create',
    input: (referenceId) => ({
      referenceId,
      cryptoAmount: '12.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      mobileMoneyReceiver: { phoneNumber: PHONE, networkProvider: 'MPESA' },
    }),
  },
  createBankCheckout: {
    kind: 'bank-checkout',
    step: 'checkout',
    input: (referenceId) => ({
      referenceId,
      fullName: 'Canary Customer',
      phoneNumber: '+27821234567',
      paymentMethod: 'PAYBYBANK',
      currency: 'ZAR',
      amount: '250.50',
    }),
    toldAt: 'SUCCESSFUL',
  },
  createCardDeposit: {
    kind: 'card-deposit',
    step: 'deposit',
    input: (referenceId) => ({
      referenceId,
      fullName: 'Canary Customer',
      phoneNumber: '+27821234567',
      currency: 'ZAR',
      amount: '250.50',
    }),
    toldAt: 'SUCCESSFUL',
  },
  createBankWithdrawal: {
    kind: 'bank-withdrawal',
    step: 'withdraw',
    input: (referenceId) => ({
      referenceId,
      bankDetails: { bankCode: '0250', accountNumber: '62000000001', country: 'ZA' },
      currency: 'ZAR',
      amount: '250.50',
    }),
    toldAt: 'SUCCESSFUL',
  },
  createInvoice: {
    kind: 'invoice-payment',
    step: 'generate',
    input: (referenceId) => ({ referenceId, ...INVOICE, payment: { mobileMoney } }),
  },
  payInvoice: {
    kind: 'invoice-payment',
    step: 'pay',
    input: (referenceId) => ({ referenceId, currency: INVOICE.currency, amount: INVOICE.amount, mobileMoney }),
    before: 'invoice',
  },
  createBridgeDeposit: {
    kind: 'bridge-transfer',
    step: null,
    input: (reference) => transferInput(reference),
    toldAt: 'COMPLETED',
  },
};
