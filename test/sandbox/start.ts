import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js';
import { startReceiver, type Receiver } from './receiver.js';

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
  readonly headers: Headers;
}

/**
 * A running sandbox with its own folder and a receiver for its callbacks; frozen in time unless configured otherwise.
 */
export interface Rig {
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  readonly dbPath: string;
  /** A call of the service, with the right token unless another one (or null) is given. */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>;
  /** A call of `/_sandbox`. */
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  advance(ms: number): Promise<void>;
  quote(amount?: number): Promise<string>;
  deposit(reference: string, over?: Record<string, unknown>): Promise<Answer>;
  statuses(reference: string): Promise<string[]>;
  executions(reference: string, operation?: string): Promise<number>;
  close(): Promise<void>;
}

export const STEP_MS = 1_000;
export const DEPOSIT = '/api/v3/deposit/crypto-bridge';
export const QUOTE = '/api/v3/rate/crypto-bridge';
export const SEND = '/api/v3/onramp/crypto';

async function request(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is what the test wants.
  }
  return { status: response.status, body: parsed, headers: response.headers };
}

export function depositBody(reference: string, callbackUrl: string, over: Record<string, unknown> = {}): object {
  return {
    customer_key: 'customer-1',
    provider_reference_id: reference,
    amount: 1000,
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'LIGHTNING',
    token: 'MSAT',
    crypto_payment: { bolt11: 'lnbc1', payment_hash: 'a'.repeat(64), amount_msat: 7_700_000 },
    settlement: {
      amount: 115.5,
      currency: 'GHS',
      country: 'GH',
      recipient: { phone_number: '+233241234567', payment_method: 'mobile_money', mobile_money_provider: 'MTN' },
    },
    callback_url: callbackUrl,
    ...over,
  };
}

export async function startRig(over: Partial<SandboxOptions> & { frozen?: boolean } = {}): Promise<Rig> {
  const { frozen = true, ...options } = over;
  const folder = await mkdtemp(join(tmpdir(), 'towline-sandbox-'));
  const dbPath = options.dbPath ?? join(folder, 'sandbox.db');
  const receiver = await startReceiver();
  const sandbox = await startSandbox({ durable: false, stepMs: STEP_MS, ...options, dbPath });
  const rig: Rig = {
    sandbox,
    receiver,
    dbPath,
    call: (method, path, body, token = 'sandbox-token') =>
      request(sandbox.url + path, method, body, token === null ? {} : { authorization: `Bearer ${token}` }),
    control: (method, path, body) => request(`${sandbox.url}/_sandbox${path}`, method, body),
    advance: async (advanceMs) => void (await rig.control('POST', '/clock', { advanceMs })),
    async quote(amount = 1000) {
      const answer = await rig.call('POST', QUOTE, {
        source_currency: 'KES',
        source_amount: amount,
        crypto_chain: 'LIGHTNING',
        crypto_token: 'MSAT',
      });
      return answer.body.data.rate_id as string;
    },
    deposit: (reference, over = {}) =>
      rig.call('POST', DEPOSIT, depositBody(reference, `${receiver.url}/callbacks/${reference}`, over)),
    async statuses(reference) {
      const answer = await rig.control('GET', `/deposits/${reference}`);
      return answer.body.deposits[0].history.map((step: { status: string }) => step.status);
    },
    async executions(reference, operation = 'createBridgeDeposit') {
      const query = new URLSearchParams({ reference, operation });
      return (await rig.control('GET', `/executions?${query.toString()}`)).body.count as number;
    },
    async close() {
      await sandbox.close();
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (frozen) await rig.control('POST', '/clock', { freeze: true });
  return rig;
}
