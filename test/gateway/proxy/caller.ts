import { SAMPLES, INVOICE_BODY, PAYMENT_BODY, type Sampled } from '../../sandbox/samples.js';
import type { Answer } from '../../harness/service.js';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answer;
}

/** A caller that uses the service's interface over plain HTTP, and knows nothing of Towline. */
export interface Caller {
  readonly get: (path: string) => Promise<Answered>;
  readonly send: (method: string, path: string, body?: unknown) => Promise<Answered>;
  readonly post: (path: string, body: unknown) => Promise<Answered>;
}

export function callerOf(baseUrl: string, token: string): Caller {
  const send: Caller['send'] = async (method, path, body) => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer };
  };
  return { send, get: (path) => send('GET', path), post: (path, body) => send('POST', path, body) };
}

export const PATHS = {
  quote: '/api/v3/rate/crypto-bridge',
  bridge: '/api/v3/deposit/crypto-bridge',
  invoice: '/api/v3/cross-boarder/invoice',
  pay: '/api/v3/cross-boarder/invoice/pay',
  key: '/api/v3/auth/api-key/secure',
  send: SAMPLES.sendCrypto.path,
};

const CALLBACK = 'https://shop.example/callbacks/of-ours';

/** One body of each money operation that makes its own record. */
export function sample(name: Sampled, reference: string): { path: string; body: Record<string, unknown> } {
  const { path, body, reference: member } = SAMPLES[name];
  const callback = name === 'sendCrypto' ? {} : { callbackUrl: CALLBACK };
  return { path, body: { ...body, ...callback, [member]: reference } };
}

export const invoiceBody = (referenceId: string) => ({ ...INVOICE_BODY, referenceId });
export const paymentBody = (referenceId: string, more = {}) => ({ ...PAYMENT_BODY, referenceId, ...more });

export const QUOTE_BODY = { source_currency: 'KES', source_amount: 1000.5, crypto_chain: 'CELO', crypto_token: 'CUSD' };

export const bridgeBody = (reference: string, more = {}) => ({
  customer_key: 'customer-1',
  provider_reference_id: reference,
  amount: 1000.5,
  source_currency: 'KES',
  wallet_id: 'wallet-1',
  transaction_type: 'cross_border',
  chain: 'CELO',
  token: 'CUSD',
  crypto_payment: { address: '0x00000000000000000000000000000000000000aa', crypto_amount: 7.5 },
  settlement: { amount: 115.5, currency: 'GHS', recipient: { phone_number: '+233241234567' } },
  callback_url: CALLBACK,
  ...more,
});
