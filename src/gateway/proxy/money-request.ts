import { operations, type MoneyOperationName } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { flowOf } from '../../flows/index.js';
import type { FlowKind } from '../../protocol/vocabulary.js';
import { checkCallbackUrl } from '../flows/address.js';
import { withTimeScale } from '../flows/start.js';
import { flowAddress, type FlowAddress, parseBody } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';

/** A money POST of the service's interface, as the flow that carries it out. */
export interface MoneyRequest {
  readonly name: MoneyOperationName;
  readonly operation: Operation;
  readonly definition: FlowDefinition;
  readonly address: FlowAddress;
  readonly input: unknown;
}

/** The body by the operation's own strict schema, with the reference of ours where the interface allows that it has none. */
export function checkedBody(
  name: MoneyOperationName,
  value: unknown,
  sent: SentReference,
): Readonly<Record<string, unknown>> {
  const { body: schema, reference }: Operation = operations[name];
  if (schema === undefined || reference === undefined) throw new TypeError(`${name} is no money operation`);
  const body = parseBody(schema, value) as Readonly<Record<string, unknown>>;
  return sent.isOurs ? { ...body, [reference]: sent.reference } : body;
}

/** @param body as `checkedBody` gives it; of a card deposit with the card's token in the card's place */
export function moneyRequest(
  deps: ProxyDeps,
  name: MoneyOperationName,
  body: Readonly<Record<string, unknown>>,
): MoneyRequest {
  const { kind, inputOf }: MoneyRoute = MONEY_ROUTES[name];
  const definition = flowOf(kind);
  const input = parseBody(definition.input, withTimeScale(deps, inputOf?.(body) ?? body));
  checkCallbackUrl(deps.settings, input);
  const address = flowAddress(kind, definition.referenceOf(input));
  if (address === undefined) throw new Refusal(400, 'The reference is not one of ours.');
  return { name, operation: operations[name], definition, address, input };
}

/** How an operation's body becomes the input of its flow. */
interface MoneyRoute {
  readonly kind: FlowKind;
  /** The body keeps the operation's own schema already. @default the body itself */
  readonly inputOf?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

/** Part of the fingerprint of every invoice: changed, a repeated request of yesterday would be another one. */
const INVOICE_DEADLINE_SECONDS = 7 * 86_400;

/**
 * The flow of each money operation. The caller's callback URL becomes the flow's `callbackUrl`; the service is given ours.
 */
const MONEY_ROUTES = {
  createBridgeDeposit: {
    kind: 'bridge-transfer',
    // Who speaks the service's interface has agreed to no slippage: an expired quote is only replaced by one as good.
    inputOf: ({ callback_url: callbackUrl, ...body }) => ({ ...body, callbackUrl, maxSlippageBps: 0 }),
  },
  createOnramp: { kind: 'onramp' },
  sendCrypto: { kind: 'crypto-send' },
  createOfframp: { kind: 'offramp' },
  createBankCheckout: { kind: 'bank-checkout' },
  createCardDeposit: { kind: 'card-deposit' },
  createBankWithdrawal: { kind: 'bank-withdrawal' },
  // It waits until `payInvoice` comes with the same reference.
  createInvoice: {
    kind: 'invoice-payment',
    inputOf: (body) => ({ ...body, pay: 'generated', deadlineSeconds: INVOICE_DEADLINE_SECONDS }),
  },
  payInvoice: { kind: 'invoice-payment', inputOf: (body) => ({ ...body, pay: 'existing' }) },
} as const satisfies Record<MoneyOperationName, MoneyRoute>;

/** The reference that a money POST goes under. */
export interface SentReference {
  /** The member of the request that carries it. */
  readonly member: string;
  /** Undefined where the caller gave what is none. */
  readonly reference: string | undefined;
  /** The caller gave none: it knows this one from us alone, and without it would make another payment. */
  readonly isOurs: boolean;
}
