import { operations, type MoneyOperationName } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { flowOf } from '../../flows/index.js';
import { FLOW_KINDS } from '../../protocol/vocabulary.js';
import { checkedInput, withTimeScale } from '../flows/start.js';
import type { Asker } from '../../temporal/questions.js';
import { asOrder, type Caller } from '../http/bearer-token.js';
import { type FlowAddress, parseBody } from '../http/flow-path.js';
import type { ProxyDeps } from './deps.js';

/** A money POST of the service's interface, as the flow that carries it out. */
export interface MoneyRequest {
  readonly name: MoneyOperationName;
  readonly operation: Operation;
  readonly definition: FlowDefinition;
  readonly address: FlowAddress;
  readonly input: unknown;
  readonly asker: Asker;
}

/** Parses the body by the operation's own strict schema; if the interface allows a missing reference, ours is added. */
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

/** @param body from `checkedBody`; for a card deposit with the card's token in place of the card */
export async function moneyRequest(
  deps: ProxyDeps,
  caller: Caller,
  name: MoneyOperationName,
  body: Readonly<Record<string, unknown>>,
): Promise<MoneyRequest> {
  const { kind, inputOf } = routeOf(name);
  const checked = await checkedInput(deps, caller, kind, withTimeScale(deps, inputOf(body)));
  return { name, operation: operations[name], asker: asOrder(caller), ...checked };
}

/** The kind of flow that carries a money operation out, by its definition. A test finds an operation without one. */
function routeOf(name: MoneyOperationName) {
  for (const kind of FLOW_KINDS) {
    const inputOf = flowOf(kind).carriesOut?.[name];
    if (inputOf !== undefined) return { kind, inputOf };
  }
  throw new TypeError(`no kind of flow carries ${name} out`);
}

/** The reference of a money POST. */
export interface SentReference {
  /** The member of the request that carries it. */
  readonly member: string;
  /** Undefined if the caller gave an invalid one. */
  readonly reference: string | undefined;
  /** The caller gave none: it learns this one only from us, and without it would make another payment. */
  readonly isOurs: boolean;
}
