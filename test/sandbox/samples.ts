import type { Rig } from './start.js';

/** One body for every money operation with a lifecycle; each carries its reference where the interface wants it. */
export const SAMPLES = {
  createOnramp: {
    path: '/api/v3/onramp',
    lookup: '/api/v3/deposit/on-chain/status',
    reference: 'referenceId',
    amount: 'fiatAmount',
    body: {
      fiatAmount: 1000,
      currency: 'KES',
      chain: 'CELO',
      token: 'CUSD',
      receiverAddress: '0xabc',
      mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' },
    },
  },
  sendCrypto: {
    path: '/api/v3/onramp/crypto',
    lookup: '/api/v3/onramp/crypto',
    reference: 'referenceId',
    amount: 'cryptoAmount',
    body: { receiverAddress: '0xabc', chain: 'CELO', token: 'CUSD', cryptoAmount: 5 },
  },
  createOfframp: {
    path: '/api/v3/offramp',
    lookup: '/api/v3/offramp',
    reference: 'referenceId',
    amount: 'cryptoAmount',
    body: {
      cryptoAmount: 10,
      currency: 'KES',
      chain: 'CELO',
      token: 'CUSD',
      senderAddress: '0xdef',
      mobileMoneyReceiver: { phoneNumber: '+254712345678', networkProvider: 'MPESA' },
    },
  },
  createBankCheckout: {
    path: '/api/v3/deposit/bank/checkout',
    lookup: undefined,
    reference: 'referenceId',
    amount: 'amount',
    body: {
      fullName: 'Ada',
      phoneNumber: '+27821234567',
      paymentMethod: 'PAYBYBANK',
      currency: 'ZAR',
      amount: 250,
      customerRedirectUrl: 'https://shop.example/back',
    },
  },
  createCardDeposit: {
    path: '/api/v3/deposit/card',
    lookup: undefined,
    reference: 'referenceId',
    amount: 'amount',
    body: {
      fullName: 'Ada',
      phoneNumber: '+27821234567',
      currency: 'ZAR',
      amount: 250,
      card: { number: '4111 1111 1111 1111', holder: 'ADA', expiryMonth: '12', expiryYear: '2031', cvv: '987' },
    },
  },
  createBankWithdrawal: {
    path: '/api/v3/withdraw/v2/bank',
    lookup: undefined,
    reference: 'referenceId',
    amount: 'amount',
    body: {
      bankDetails: { name: 'Ada', bankCode: '0250', accountNumber: '62001234567', country: 'ZA' },
      currency: 'ZAR',
      amount: 250,
    },
  },
} as const;

export type Sampled = keyof typeof SAMPLES;
export const sampled = Object.keys(SAMPLES) as Sampled[];

/** Operations whose body takes a callback URL. */
const CALLED_BACK: readonly Sampled[] = sampled.filter((name) => name !== 'sendCrypto');
export const isCalledBack = (name: Sampled) => CALLED_BACK.includes(name);

/** Makes one, with a callback to the rig's receiver; `amount` and members may be others. */
export function create(rig: Rig, name: Sampled, reference: string, over: Record<string, unknown> = {}) {
  const sample = SAMPLES[name];
  const callback = isCalledBack(name) ? { callbackUrl: `${rig.receiver.url}/callbacks/${reference}` } : {};
  return rig.call('POST', sample.path, { ...sample.body, [sample.reference]: reference, ...callback, ...over });
}

export const INVOICE = '/api/v3/cross-boarder/invoice';
export const INVOICE_BODY = {
  currency: 'KES',
  amount: 500,
  bank: { accountName: 'Bea', bankCode: '0250', accountNumber: '123456', country: 'KE' },
};
export const PAYMENT_BODY = {
  currency: 'KES',
  amount: 500,
  mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' },
};

/** What control shows of the newest transaction with this reference. */
export async function transactionOf(rig: Rig, reference: string, operation?: string) {
  const query = operation === undefined ? '' : `?operation=${operation}`;
  const { body } = await rig.control('GET', `/transactions/${reference}${query}`);
  return body.transactions[0];
}

export async function historyOf(rig: Rig, reference: string, operation?: string): Promise<string[]> {
  const { history } = await transactionOf(rig, reference, operation);
  return history.map(({ status }: { status: string }) => status) as string[];
}
