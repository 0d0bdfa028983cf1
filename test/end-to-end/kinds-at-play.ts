import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { CANARY_CARD } from '../flows/cards/card-gateway.js';
import type { Answer } from '../harness/stack.js';
import type { Stack } from './stack.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

/** One kind as callers start it over HTTP, and how the sandbox makes it fail. */
export interface KindAtPlay {
  readonly kind: FlowKind;
  /** Whether the interface can be asked how it stands; else only events tell. */
  readonly hasLookup: boolean;
  readonly input: (reference: string) => Record<string, unknown>;
  readonly failing: { readonly ending: string; readonly state: string };
  /** The operation that the ending is for, where several carry the reference. */
  readonly operation?: string;
}

const EVM = '0x3333333333333333333333333333333333333333';
const mobileMoney = { accountName: 'Canary Payer', phoneNumber: '+254712345678', providerNetwork: 'MPESA' };
const payer = { fullName: 'Canary Payer', phoneNumber: '+27821234567', currency: 'ZAR', amount: '250.50' };

export const KINDS_AT_PLAY: readonly KindAtPlay[] = [
  {
    kind: 'bridge-transfer',
    hasLookup: false,
    input: (reference) => transferInput(reference),
    failing: { ending: 'failed-then-refunded', state: 'refunded' },
  },
  {
    kind: 'invoice-payment',
    hasLookup: true,
    input: (referenceId) => ({
      referenceId,
      currency: 'KES',
      amount: '1000.50',
      bank: { accountName: 'Canary Payee', accountNumber: '0012345678', bankCode: '0250', country: 'ZAF' },
      payment: { mobileMoney },
    }),
    failing: { ending: 'failed', state: 'failed' },
    operation: 'payInvoice',
  },
  {
    kind: 'onramp',
    hasLookup: true,
    input: (referenceId) => ({
      referenceId,
      fiatAmount: '1000.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: EVM,
      mobileMoney,
    }),
    failing: { ending: 'failed', state: 'failed' },
  },
  {
    kind: 'crypto-send',
    hasLookup: true,
    input: (referenceId) => ({ referenceId, receiverAddress: EVM, chain: 'CELO', token: 'USDC', cryptoAmount: '12.5' }),
    failing: { ending: 'failed', state: 'failed' },
  },
  {
    kind: 'offramp',
    hasLookup: true,
    input: (referenceId) => ({
      referenceId,
      cryptoAmount: '12.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      mobileMoneyReceiver: { phoneNumber: '+254712345678', accountName: 'Canary Receiver', networkProvider: 'MPESA' },
    }),
    failing: { ending: 'failed-then-refunded', state: 'refunded' },
  },
  {
    kind: 'bank-checkout',
    hasLookup: false,
    input: (referenceId) => ({ referenceId, ...payer, paymentMethod: 'CARD' }),
    failing: { ending: 'declined', state: 'failed' },
  },
  {
    kind: 'card-deposit',
    hasLookup: false,
    input: (referenceId) => ({ referenceId, ...payer, card: CANARY_CARD }),
    failing: { ending: 'expired', state: 'failed' },
  },
  {
    kind: 'bank-withdrawal',
    hasLookup: false,
    input: (referenceId) => ({
      referenceId,
      bankDetails: { bankCode: '0250', accountNumber: '62000000001' },
      currency: 'ZAR',
      amount: '250.5',
    }),
    failing: { ending: 'failed', state: 'failed' },
  },
  {
    kind: 'kyc-check',
    hasLookup: true,
    input: (kycId) => ({ kycId }),
    failing: { ending: 'kyc-rejected', state: 'failed' },
  },
];

export const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Signed: a tampered copy would otherwise be as good as the capability that it came by. */
export const SIGNED = {
  drivenAlone: true,
  sandbox: { callbackSecret: SECRET, webhookSecret: SECRET },
  env: { WEBHOOK_SECRETS: SECRET },
};

/** Account webhooks come, too, from now on. */
export async function subscribe(stack: Stack): Promise<void> {
  const webhookUrl = stack.url + new URL(stack.gateway.inbound.webhook).pathname;
  await stack.control('POST', '/settings', { webhookUrl });
}

/** Starts a flow over HTTP; `ending` is what the sandbox makes of it. @returns its reference */
export async function startOne(
  stack: Stack,
  { kind, input, operation }: KindAtPlay,
  options: {
    readonly ending?: string;
    readonly more?: Record<string, unknown>;
    /** What was done that leaves it no other way than to park. */
    readonly parks?: string;
  } = {},
): Promise<string> {
  const reference = newReference(
    `${kind}-${options.ending ?? 'completed'}`.replaceAll(/review|pending|rejected/g, 'x'),
  );
  if (options.ending !== undefined) {
    const scenario = { reference, ending: options.ending, ...(operation === undefined ? {} : { operation }) };
    await stack.control('POST', '/scenarios', scenario);
  }
  if (options.parks !== undefined) stack.expectParked(`${kind}/${reference}`, options.parks);
  const answer = await stack.post(`/flows/${kind}`, { ...input(reference), ...options.more });
  if (answer.status !== 201) throw new Error(`${kind}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return reference;
}

/** The flow when it has ended or is parked; asked again where a busy machine could not say how. */
export async function whenDone(stack: Stack, kind: FlowKind, reference: string, timeoutSeconds = 40): Promise<Answer> {
  for (let turn = 1; ; turn += 1) {
    const { body } = await stack.get(`/flows/${kind}/${reference}/wait?timeoutSeconds=${timeoutSeconds}`);
    const { state, parked } = body;
    const isSaid = state === 'parked' ? parked !== null : state !== undefined && state !== 'running';
    if (isSaid || turn === 3) return body;
  }
}
