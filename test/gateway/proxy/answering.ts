import Fastify, { type FastifyReply } from 'fastify';
import { operations, type MoneyOperationName } from '../../../src/contract/index.js';
import { flowOf } from '../../../src/flows/index.js';
import type { ProxyDeps } from '../../../src/gateway/proxy/deps.js';
import type { MoneyRequest } from '../../../src/gateway/proxy/money-request.js';
import type { FlowView, Outcome } from '../../../src/api/flow.js';
import { flowIdOf, type FlowKind } from '../../../src/protocol/vocabulary.js';
import type { Store } from '../../../src/store/store.js';
import { submitFingerprint } from '../../../src/store/store-key.js';
import { bridgeBody, paymentBody, sample } from './caller.js';

const KINDS = {
  sendCrypto: ['crypto-send', (reference: string) => sample('sendCrypto', reference).body],
  payInvoice: ['invoice-payment', paymentBody],
  createBridgeDeposit: ['bridge-transfer', bridgeBody],
} as const satisfies Partial<Record<MoneyOperationName, readonly [FlowKind, (reference: string) => object]>>;

/** As the routes make it from a body. */
export function requestOf(name: keyof typeof KINDS, more: object = {}): MoneyRequest {
  const reference = 'r1';
  const [kind, bodyOf] = KINDS[name];
  const definition = flowOf(kind);
  const parsed = operations[name].body.parse({ ...bodyOf(reference), ...more }) as Record<string, unknown>;
  const input: unknown = definition.input.parse(definition.carriesOut?.[name]?.(parsed));
  const address = { kind, reference, flowId: flowIdOf(kind, reference) };
  return { name, operation: operations[name], definition, address, input, asker: { name: 'shop', isOrder: true } };
}

interface Said {
  readonly status: number;
  readonly location: unknown;
  readonly type: unknown;
  readonly text: string;
  readonly body: Record<string, unknown> | undefined;
  /** What the function returned or threw. */
  readonly result: unknown;
}

/** What goes out if this answers: 599 if nothing did. */
export async function answered(answer: (reply: FastifyReply) => Promise<unknown>): Promise<Said> {
  const server = Fastify();
  let result: unknown;
  server.get('/', async (_request, reply) => {
    // A returned reply is a promise, which waits until it is sent.
    result = await answer(reply).catch((error: unknown) => error);
    if (!reply.sent) void reply.code(599).send('unanswered');
    return reply;
  });
  const { statusCode, headers, payload } = await server.inject('/');
  await server.close();
  return {
    status: statusCode,
    location: headers['location'],
    type: headers['content-type'],
    text: payload,
    body: objectIn(payload),
    result,
  };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** A real store, and a flow that shows this view. */
export const depsOf = (store: Store, view: Partial<FlowView> | undefined): ProxyDeps =>
  ({
    store,
    settings: { serviceAccount: 'default' },
    reader: { show: () => Promise.resolve(view) },
  }) as unknown as ProxyDeps;

export const viewIn = (state: FlowView['state'], outcome: Partial<Outcome> | null = null): Partial<FlowView> => ({
  flowId: 'f',
  reference: 'r1',
  stage: 'sent',
  serviceReference: 'svc-1',
  parked: null,
  state,
  outcome: outcome as Outcome | null,
});

export const keyOf = ({ name, address }: MoneyRequest) => ({
  account: 'default',
  operation: name,
  reference: address.reference,
});

/** Its claim, reserved by `o`, as a worker does it. */
export async function reserved(store: Store, request: MoneyRequest): Promise<void> {
  const { name, definition, input, address } = request;
  const submission = Object.values(definition.submissions ?? {}).find(({ operation }) => operation === name);
  const fingerprint = submitFingerprint(store, name, submission?.decidedBy(input));
  await store.claims.reserve(keyOf(request), { owner: 'o', flowId: address.flowId, fingerprint });
}

export async function sent(store: Store, request: MoneyRequest): Promise<void> {
  await reserved(store, request);
  await store.claims.markSending(keyOf(request), 'o');
}
