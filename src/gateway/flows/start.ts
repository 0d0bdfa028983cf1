import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { flowOf } from '../../flows/index.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { tooMuch } from '../../flows/largest-amount.js';
import type { Flow } from '../../protocol/gateway-json.js';
import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { type FlowReader, viewOfNewFlow } from '../../temporal/flow-handle.js';
import { OtherRequestError, startFlow } from '../../temporal/start-flow.js';
import { isLoopback } from '../../protocol/loopback.js';
import { withCardTaken } from '../cards/take-card.js';
import { type Caller, whoIs } from '../http/bearer-token.js';
import { type FlowAddress, flowAddress, NO_SUCH_KIND, parseBody } from '../http/flow-path.js';
import { mayOrder } from '../http/may-order.js';
import { OtherRequestRefusal, Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import type { FlowOperationDeps } from './deps.js';
import { recordingRefusals } from './give-order.js';
import { checkCallbackUrl, Flow as FlowSchema, shownFlow } from './address.js';
import { flowJson } from './flow-json.js';
import { describedInput, pascal } from './described-input.js';

/** `POST /flows/{kind}`, a route for each kind: each has an input of its own. */
export function addStartRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  for (const kind of FLOW_KINDS) {
    addRoute(
      server,
      deps.tokens,
      {
        method: 'POST',
        path: `/flows/${kind}`,
        operationId: `start${pascal(kind)}`,
        tag: 'flows',
        summary: `Starts a flow of the kind ${kind}, or finds the one that its reference has.`,
        permission: 'start',
        body: { required: true, described: () => describedInput(kind) },
        answers: {
          200: { says: 'The very same request started it before.', schema: { Flow: FlowSchema } },
          201: { says: 'Started.', schema: { Flow: FlowSchema } },
        },
        refusals: { 409: 'The reference has another request.' },
      },
      async ({ reply, body, caller }) => {
        const start = (taken: unknown) => startOrFind(deps, caller, kind, taken, reply);
        const input = withTimeScale(deps, body);
        const { view } = await (kind === 'card-deposit'
          ? withCardTaken({ cards: deps.cards, owner: caller.name }, input, start)
          : start(input));
        return view;
      },
    );
  }
  const onRequest = async (request: FastifyRequest) => void (await deps.tokens.require(request, 'start'));
  server.post('/flows/:kind', { onRequest, config: { permission: 'start' } }, () => {
    throw new Refusal(404, NO_SUCH_KIND, { code: 'unknown_kind' });
  });
}

async function startOrFind(
  deps: FlowOperationDeps,
  caller: Caller,
  kind: FlowKind,
  body: unknown,
  reply: FastifyReply,
): Promise<{ readonly started: boolean; readonly view: Flow }> {
  const { definition, input, address } = await checkedInput(deps, kind, body, `The input of ${kind}`);
  const { reference, flowId } = address;
  reply.request.flowId = flowId;
  const { started } = await recordingStart(deps, caller, { definition, address, input }, () =>
    startFlow(deps, kind, input).catch((error: unknown) => {
      if (error instanceof OtherRequestError) throw new OtherRequestRefusal(error.message, reference);
      throw error;
    }),
  );
  void reply.header('location', `/flows/${kind}/${reference}`);
  if (!started) return { started, view: await flowJson(deps, await shownFlow(deps.reader, address, caller)) };
  deps.dispatcher.releaseWaiting(flowId);
  void reply.code(201);
  const view = viewOfNewFlow(flowId, new Date(deps.nowMs()), definition.moneyOf?.(input));
  return { started, view: { ...view, proposal: null, contradicted: null } };
}

/**
 * The input of a new flow, and the flow's address. An amount above `MAX_AMOUNTS` is refused only if the flow does not
 * exist yet: for an existing one, a refusal would say that nothing was sent.
 *
 * @param what names the input at the beginning of a refusal
 * @throws Refusal 400
 */
export async function checkedInput(
  {
    settings,
    reader,
    store,
  }: Pick<FlowOperationDeps, 'settings' | 'store'> & {
    readonly reader: Pick<FlowReader, 'facts'>;
  },
  kind: FlowKind,
  body: unknown,
  what?: string,
): Promise<{ readonly definition: FlowDefinition; readonly input: unknown; readonly address: FlowAddress }> {
  const definition = flowOf(kind);
  const input = parseBody(definition.input, body, what);
  checkCallbackUrl(settings, input);
  const address = flowAddress(kind, definition.referenceOf(input));
  if (address === undefined) throw new Refusal(400, 'The reference is not one of ours.');
  // Temporal forgets a flow; its claims are kept.
  const isNew = async () =>
    (await reader.facts(address.flowId)) === undefined && (await store.claims.ofFlow(address.flowId)).length === 0;
  const above = tooMuch(definition, input, settings.maxAmounts);
  if (above !== undefined && (await isNew())) {
    const { reference } = address;
    throw new Refusal(400, `${above.path} ${above.message}. Nothing was sent.`, {
      reference,
      code: 'above_largest_amount',
      errors: [above],
    });
  }
  return { definition, input, address };
}

/** A request that starts a flow, or finds the one that it started before. */
interface StartRequest {
  readonly definition: Pick<FlowDefinition, 'moneyOf'>;
  readonly address: FlowAddress;
  readonly input: unknown;
}

/**
 * Records who starts a flow before `start` is run: a starter cannot be the second person of an order about the flow. A
 * starter's request about the existing flow starts nothing, and is not recorded again. If the start is refused, an entry
 * with the same subject says so, and by this request its caller is no starter: so each of two requests that a person
 * sends at once is recorded.
 *
 * @param start throws OtherRequestRefusal if nothing was started for this request
 * @throws StoreUnavailableError: then nothing is started; Refusal 429; what `start` throws
 */
export async function recordingStart<T>(
  deps: Pick<FlowOperationDeps, 'store' | 'logger' | 'budget'> & { readonly reader: Pick<FlowReader, 'facts'> },
  caller: Caller,
  { definition, address: { flowId, reference }, input }: StartRequest,
  start: () => Promise<T>,
): Promise<T> {
  const { audit } = deps.store;
  const owner = (await audit.ownersOf([flowId])).get(flowId);
  const isTaken =
    owner !== undefined && mayOrder({ caller, permission: 'start', flow: { owner: owner.name } }) === 'not_theirs';
  const isStarter =
    owner?.name === caller.name || (owner !== undefined && (await audit.startersOf(flowId)).includes(caller.name));
  if (isStarter && !isTaken && (await deps.reader.facts(flowId)) !== undefined) return start();
  const { amount, currency } = definition.moneyOf?.(input) ?? {};
  const details = amount === undefined ? {} : { amount, currency };
  const about = { ...whoIs(caller), flowId, subject: `start_${uuidv7()}` };
  const isRefused = (error: unknown) => error instanceof OtherRequestRefusal;
  const recordAndStart = async () => {
    if (isTaken) throw takenReference(reference);
    await audit.append({ ...about, kind: 'start', details });
    return start();
  };
  return recordingRefusals(deps, { ...about, action: 'start' }, undefined, recordAndStart, isRefused);
}

/** The flow of this reference is another name's: nothing of it is shown, whatever the request. */
const takenReference = (reference: string): OtherRequestRefusal =>
  new OtherRequestRefusal(
    'The reference belongs to a flow of another name. Take another one. Nothing was sent.',
    reference,
  );

/** `TIME_SCALE` reaches a flow in its input. */
export function withTimeScale({ settings }: FlowOperationDeps, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const given = (body as Record<string, unknown>)['timeScale'];
  if (given === undefined) return settings.timeScale === 1 ? body : { ...body, timeScale: settings.timeScale };
  if (given !== 1 && !isLoopback(new URL(settings.serviceBaseUrl).hostname)) {
    const message = 'must be 1, since the service is not on this machine';
    throw new Refusal(400, `timeScale ${message}.`, { errors: [{ path: 'timeScale', message }] });
  }
  return body;
}
