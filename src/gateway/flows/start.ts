import type { FastifyInstance, FastifyReply } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { flowOf } from '../../flows/index.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { tooMuch } from '../../flows/largest-amount.js';
import { Flow } from '../../api/flow.js';
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
import type { AuditStore } from '../../store/audit.js';
import { inTurns } from '../../in-turns.js';
import type { FlowOperationDeps } from './deps.js';
import { recordingRefusals } from './give-order.js';
import { checkCallbackUrl, shownFlow } from './address.js';
import { flowJson } from './flow-json.js';
import { describedInput, pascal } from './described-input.js';
import { createTurns } from './turns-of-names.js';

/** A thousand starts of one name at once made another name's start wait for eleven seconds. */
const STARTS_AT_ONCE = 16;

/** `POST /flows/{kind}`, a route for each kind: each has an input of its own. */
export function addStartRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  const inTurn = createTurns(STARTS_AT_ONCE);
  for (const kind of FLOW_KINDS) {
    addRoute(server, {
      method: 'POST',
      path: `/flows/${kind}`,
      operationId: `start${pascal(kind)}`,
      tag: 'flows',
      summary: `Starts a flow of the kind ${kind}, or finds the one that its reference has.`,
      permission: 'start',
      body: { required: true, described: () => describedInput(kind) },
      answers: {
        200: { says: 'The very same request started it before.', schema: { Flow } },
        201: { says: 'Started.', schema: { Flow } },
      },
      refusals: { 409: 'The reference has another request.' },
      handler: async ({ reply, body, caller }) => {
        const start = (taken: unknown) => inTurn(caller.name, () => startOrFind(deps, caller, kind, taken, reply));
        const input = withTimeScale(deps, body);
        const { view } = await (kind === 'card-deposit'
          ? withCardTaken({ cards: deps.cards, owner: caller.name }, input, start)
          : start(input));
        return view;
      },
    });
  }
  server.post('/flows/:kind', { config: { permission: 'start' } }, () => {
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
  const { definition, input, address } = await checkedInput(deps, caller, kind, body, `The input of ${kind}`);
  const { reference, flowId } = address;
  reply.request.flowId = flowId;
  const request = { definition, address, input };
  const { started } = await recordingStart(deps, caller, request, async (startId, found) => {
    const flow = await startFlow(deps, kind, input, { startId, name: caller.name }).catch((error: unknown) => {
      if (error instanceof OtherRequestError) throw new OtherRequestRefusal(error.message, reference);
      throw error;
    });
    if (!flow.started) await found();
    return flow;
  });
  void reply.header('location', `/flows/${kind}/${reference}`);
  if (!started) return { started, view: await flowJson(deps, await shownFlow(deps.reader, address, caller)) };
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
  caller: Pick<Caller, 'name'>,
  kind: FlowKind,
  body: unknown,
  what?: string,
): Promise<{ readonly definition: FlowDefinition; readonly input: unknown; readonly address: FlowAddress }> {
  const definition = flowOf(kind);
  const input = parseBody(definition.input, body, what);
  checkCallbackUrl(settings, input);
  const address = flowAddress(kind, definition.referenceOf(input));
  if (address === undefined) throw new Refusal(400, 'The reference is not one of ours.');
  requireOwnPrefix(settings, caller, definition, address.reference);
  const above = tooMuch(definition, input, settings.maxAmounts);
  if (above !== undefined && !(await isKnownFlow({ reader, store }, address.flowId))) {
    const { reference } = address;
    throw new Refusal(400, `${above.path} ${above.message}. Nothing was sent.`, {
      reference,
      code: 'above_largest_amount',
      errors: [above],
    });
  }
  return { definition, input, address };
}

/**
 * One reference is one flow, whoever's: a name with a prefix can neither be robbed of its references nor take another one's.
 * What is only watched has a reference of the service's.
 * @throws Refusal 400
 */
function requireOwnPrefix(
  { referencePrefixes }: Pick<FlowOperationDeps['settings'], 'referencePrefixes'>,
  caller: Pick<Caller, 'name'>,
  { moneyOf, referenceMember }: Pick<FlowDefinition, 'moneyOf' | 'referenceMember'>,
  reference: string,
): void {
  const own = moneyOf === undefined ? undefined : referencePrefixes.get(caller.name);
  const isOthers = [...referencePrefixes].some(
    ([name, prefix]) => name !== caller.name && reference.startsWith(prefix),
  );
  if (!isOthers && reference.startsWith(own ?? '')) return;
  const message = isOthers ? 'begins with the prefix of another name' : `must begin with ${own}`;
  throw new Refusal(400, `The reference ${message}. Nothing was sent.`, {
    code: 'invalid_input',
    errors: [{ path: referenceMember, message }],
  });
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
 * A flow belongs to the name whose start Temporal took. A start alone owns nothing: it may never become a flow. So of the
 * starts of several names Temporal says which one it took, and an entry keeps that.
 *
 * @param start throws OtherRequestRefusal if nothing was started for this request; calls `found` if the flow may be that of
 * another start, before it shows anything of it
 * @throws StoreUnavailableError: then nothing is started; Refusal 429; what `start` throws
 */
export async function recordingStart<T>(
  deps: StartDeps,
  caller: Caller,
  { definition, address: { flowId, reference }, input }: StartRequest,
  start: (startId: string, found: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const { audit } = deps.store;
  const subject = `start_${uuidv7()}`;
  const owner = (await audit.ownersOf([flowId])).get(flowId);
  const isThere = owner !== undefined && (await isKnownFlow(deps, flowId));
  const isOthers = (name: string | null) =>
    mayOrder({ caller, permission: 'start', flow: { owner: name } }) === 'not_theirs';
  const isTaken = isThere && isOthers(owner.by === 'starts' ? await ownerByStart(deps, flowId) : owner.name);
  const isStarter =
    owner?.name === caller.name || (owner !== undefined && (await audit.startersOf(flowId)).includes(caller.name));
  const startAndOwn = async () => {
    let isFound = isThere;
    const started = await start(subject, async () => {
      isFound = true;
      if (isOthers(await ownerByStart(deps, flowId))) throw takenReference(reference);
    });
    if (!isFound && owner !== undefined && owner.name !== caller.name) await giveTo(deps, flowId, caller.name);
    return started;
  };
  if (isStarter && !isTaken && (await deps.reader.facts(flowId)) !== undefined) return startAndOwn();
  const { amount, currency } = definition.moneyOf?.(input) ?? {};
  const details = amount === undefined ? {} : { amount, currency };
  const about = { ...whoIs(caller), flowId, subject };
  const isRefused = (error: unknown) => error instanceof OtherRequestRefusal;
  const recordAndStart = async () => {
    if (isTaken) throw takenReference(reference);
    await audit.append({ ...about, kind: 'start', details });
    return startAndOwn();
  };
  return recordingRefusals(deps, { ...about, action: 'start' }, undefined, recordAndStart, isRefused);
}

type StartDeps = Pick<FlowOperationDeps, 'store' | 'logger' | 'budget'> & {
  readonly reader: Pick<FlowReader, 'facts'>;
};

/** Temporal has it, or had it: it forgets a flow, and its claims are kept. A start alone is none. */
export async function isKnownFlow(
  { reader, store }: Pick<StartDeps, 'reader' | 'store'>,
  flowId: string,
): Promise<boolean> {
  return (await reader.facts(flowId)) !== undefined || (await store.claims.ofFlow(flowId)).length > 0;
}

/** For a start that was not the first, and that Temporal took. */
const giveTo = ({ store: { audit } }: Pick<StartDeps, 'store'>, flowId: string, name: string): Promise<void> =>
  audit.append({ kind: 'give', flowId, subject: name, actor: 'towline', means: 'towline', details: { note: TAKEN } });

const TAKEN = 'Temporal took the start of this name.';

type OwnerDeps = Pick<StartDeps, 'store' | 'reader'>;

/** The owner, by the start that Temporal took: what it does not know is nobody's. */
async function ownerByStart(deps: OwnerDeps, flowId: string): Promise<string | null> {
  const { audit } = deps.store;
  const [facts, owners] = await Promise.all([deps.reader.facts(flowId), audit.ownersOf([flowId])]);
  const owner = owners.get(flowId);
  if (owner === undefined || owner.by === 'gift' || facts === undefined) return owner?.name ?? null;
  // Another Temporal client started it, and its first step has not recorded that yet.
  if (facts.startId === undefined) return null;
  const [taken] = await audit.list({ flowId, kind: 'start', subject: facts.startId, limit: 1 });
  if (taken !== undefined && taken.actor !== owner.name) await giveTo(deps, flowId, taken.actor);
  return taken?.actor ?? null;
}

/** The owners of flows, with those of which only Temporal knows whose start it took. */
export function settledOwners(deps: OwnerDeps): AuditStore['ownersOf'] {
  const { audit } = deps.store;
  return async (flowIds) => {
    const owners = await audit.ownersOf(flowIds);
    const unsettled = [...owners].flatMap(([flowId, { by }]) => (by === 'starts' ? [flowId] : []));
    if (unsettled.length === 0) return owners;
    await inTurns(unsettled, OWNERS_AT_ONCE, (flowId) => ownerByStart(deps, flowId));
    return new Map([...owners, ...(await audit.ownersOf(unsettled))]);
  };
}

const OWNERS_AT_ONCE = 4;

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
