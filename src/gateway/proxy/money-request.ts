import { operations, type MoneyOperationName } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { flowOf } from '../../flows/index.js';
import { checkCallbackUrl } from '../flows/check-callback-url.js';
import { withTimeScale } from '../flows/start.js';
import { flowAddress, type FlowAddress } from '../http/flow-path.js';
import { parseBody } from '../http/members.js';
import { Refusal } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';
import { MONEY_ROUTES, type MoneyRoute } from './money-routes.js';
import type { SentReference } from './sent-reference.js';

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
  if (definition === undefined) throw new TypeError(`${name} has no flow`);
  const input = parseBody(definition.input, withTimeScale(deps, inputOf?.(body) ?? body));
  checkCallbackUrl(deps.settings, input);
  const address = flowAddress(kind, definition.referenceOf(input));
  if (address === undefined) throw new Refusal(400, 'The reference is not one of ours.');
  return { name, operation: operations[name], definition, address, input };
}
