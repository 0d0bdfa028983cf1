import type { FastifyReply } from 'fastify';
import { parse, stringify } from 'lossless-json';
import type { RelayedAnswer } from '../../service-client/index.js';
import { operations } from '../../contract/index.js';
import { onTheWire } from '../../contract/wire.js';
import { flowOf } from '../../flows/index.js';
import { statusIn } from '../../flows/record-facts.js';
import type { FlowRead, ReadName } from '../../flows/service-interface.js';
import { withoutMark } from '../../readers/byte-order-mark.js';
import { isOver } from '../../store/claim.js';
import type { RefusalCode } from '../../protocol/refusals.js';
import { isFinal, classifyStatus } from '../../protocol/statuses.js';
import { FLOW_KINDS, type FlowKind, flowIdOf, type FlowState } from '../../protocol/vocabulary.js';
import { type FlowFacts, viewOf } from '../../temporal/flow-handle.js';
import { resolvedView, isTerminated } from '../flows/terminated-view.js';
import type { Reading } from '../flows/readings.js';
import type { Caller } from '../http/bearer-token.js';
import { isReference } from '../../api/flow.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { bytesWithoutOwnCallbacks } from '../flows/address.js';
import type { ProxyDeps } from './deps.js';

/** A kind of flow that a read of the service may be about. */
interface KindRead extends FlowRead {
  readonly kind: FlowKind;
}

/** Every kind whose record it may show: several if its reference may be of either. */
function readsOf(name: ReadName): readonly KindRead[] {
  return FLOW_KINDS.flatMap((kind) => {
    const read = flowOf(kind).reads?.[name];
    return read === undefined ? [] : [{ ...read, kind }];
  });
}

/** For the audit log. The flow is only known if flows of one kind alone have such a record. */
export function readingOf(name: ReadName, reference: string): Reading {
  const [read, ...others] = readsOf(name);
  const flowId =
    read !== undefined && others.length === 0 && isReference(reference) ? flowIdOf(read.kind, reference) : undefined;
  return { kind: 'read-service', flowId, subject: reference, action: name };
}

/**
 * A record is of the flow whose claim sent it, a refund of ours as well; before that, of the flows that may send it or watch
 * it under this reference. A record of which no flow is known passes: it is older than the gateway, or its reference is the
 * service's own.
 *
 * @throws Refusal 404 if one of them is another name's
 */
export async function requireTheirRecord(
  { store, owners, settings }: Pick<ProxyDeps, 'store' | 'owners' | 'settings'>,
  caller: Caller,
  name: ReadName,
  reference: string,
): Promise<void> {
  if (owners.isForAll(caller, 'read-service')) return;
  const kinds = readsOf(name).map(({ kind }) => kind);
  const operations = kinds.flatMap((kind) =>
    Object.values(flowOf(kind).submissions ?? {}).map((sent) => sent.operation),
  );
  const claimOf = (operation: string) => store.claims.get({ account: settings.serviceAccount, operation, reference });
  // A claim under which nothing left has no record.
  const senders = (await Promise.all(operations.map(claimOf))).flatMap((claim) =>
    claim === undefined || isOver(claim.phase) || (claim.phase === 'reserved' && claim.sent === 'nothing')
      ? []
      : claim.flowId,
  );
  const mayHaveIt = isReference(reference) ? kinds.map((kind) => flowIdOf(kind, reference)) : [];
  const flowIds = senders.length > 0 ? senders : [...(await store.audit.ownersOf(mayHaveIt)).keys()];
  const flows = flowIds.map((flowId) => ({ flowId }));
  if ((await owners.theirs(caller, 'read-service', flows)).length === flows.length) return;
  throw new Refusal(404, 'There is no such record.', { reference });
}

interface Read {
  readonly name: ReadName;
  readonly reference: string;
  /** For the audit log: before anything is shown, and not of what does not exist, of which there is any number. */
  readonly record: () => Promise<void>;
}

/**
 * A read passes through. Its flow answers if it knows more: if the service is unavailable, or does not yet show a
 * payment that is being sent, or shows as open what has been proven done. A 404 would make the caller send money again.

 */
export async function readThrough(
  deps: ProxyDeps,
  caller: Caller,
  read: Read,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name, reference, record } = read;
  const found = await deps.reads.read(caller, name, reference).catch((error: unknown) => {
    if (error instanceof Refusal && error.status >= 500) return error;
    throw error;
  });
  if (found instanceof Refusal || found.httpStatus === 404 || found.httpStatus >= 500) {
    return withoutService(deps, read, reply, found);
  }
  await record();
  // An answer that cannot be read is not replaced.
  const isLast = found.data === undefined || readsOf(name).some((one) => saysDone(one, found));
  const flow = isLast ? undefined : await flowRead(deps, name, reference).catch(() => undefined);
  const isEnded = flow?.state === 'completed' || flow?.state === 'refunded';
  const more = isEnded ? flow.read.said(flow.state, reference) : undefined;
  return passOn(reply, more === undefined ? found : withMore(found, more));
}

/** The service's own answer, completed by what its flow knows. */
function withMore(answer: RelayedAnswer, more: Readonly<Record<string, unknown>>): RelayedAnswer {
  // As it was written, including numbers.
  const whole = parse(withoutMark(Buffer.from(answer.bytes).toString('utf8'))) as Record<string, unknown>;
  const message = 'The service shows an earlier state; its flow knows more.';
  return { ...answer, bytes: Buffer.from(stringify({ ...whole, message, data: merged(whole['data'], more) }) ?? '') };
}

async function withoutService(
  deps: ProxyDeps,
  { name, reference, record }: Read,
  reply: FastifyReply,
  found: Refusal | RelayedAnswer,
): Promise<FastifyReply> {
  const isMissing = !(found instanceof Refusal) && found.httpStatus === 404;
  const flow = await flowRead(deps, name, reference).catch(() => {
    // That Temporal does not answer is no "there is no flow": a 404 would make the caller send money again.
    if (isMissing) {
      const message = 'The service does not show it, and its flow cannot be asked now. Ask again.';
      throw notNow(message, 'temporal_unavailable', reference);
    }
    return undefined;
  });
  const said = flow?.read.said(flow.state, reference);
  if (flow !== undefined && said !== undefined) {
    await record();
    const data = merged(await recordOf(deps, flow.read, reference), said);
    const message = 'The service does not show it now; this is what its flow knows.';
    return reply.code(200).send({ success: true, message, data: onTheWire(operations[name].data, data) });
  }
  if (found instanceof Refusal) throw found;
  const isOnItsWay = flow?.state === 'running' || flow?.state === 'parked';
  if (!isOnItsWay || !isMissing) return passOn(reply, found);
  const message = 'The service does not show it yet, and its flow is under way. Ask again.';
  throw notNow(message, 'post_under_way', reference);
}

const notNow = (message: string, code: RefusalCode, reference: string): Refusal =>
  new Refusal(503, message, { reference, code }, RETRY_AFTER_SECONDS);

/** If the service says how it ended, its answer is used. */
function saysDone(read: KindRead, { data }: RelayedAnswer): boolean {
  const status = flowOf(read.kind).status?.read(data).status ?? statusIn((data as { status?: unknown }).status);
  return isFinal(classifyStatus(read.words, status));
}

interface AnsweringFlow {
  readonly read: KindRead & Required<Pick<FlowRead, 'said'>>;
  readonly state: FlowState;
}

/** Reads only from the server. @throws Error if Temporal does not answer: then nothing is known about the flow */
async function flowRead(deps: ProxyDeps, name: ReadName, reference: string): Promise<AnsweringFlow | undefined> {
  if (!isReference(reference)) return undefined;
  for (const read of readsOf(name)) {
    const { said } = read;
    if (said === undefined) continue;
    const facts = await deps.reader.facts(flowIdOf(read.kind, reference));
    if (facts) return { read: { ...read, said }, state: await stateSince(deps, facts) };
  }
  return undefined;
}

/** A terminated flow does not know what a person decided about it since; its claims do. */
async function stateSince({ store }: ProxyDeps, facts: FlowFacts): Promise<FlowState> {
  if (!isTerminated(facts.status)) return facts.state;
  return resolvedView(viewOf(facts, undefined), store).then(
    ({ state }) => state,
    () => facts.state,
  );
}

/** The service's answer to the POST, if that is a record of the same shape. */
async function recordOf(deps: ProxyDeps, { recordOf: operation }: KindRead, reference: string): Promise<unknown> {
  if (operation === undefined) return {};
  const claim = await deps.store.claims.get({ account: deps.settings.serviceAccount, operation, reference });
  return claim?.phase === 'answered' ? claim.answer : {};
}

/** Member by member, one level deep: the legs of a record keep their other members. */
function merged(record: unknown, more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const whole = { ...(record as Record<string, unknown>) };
  for (const [member, value] of Object.entries(more)) {
    const before = whole[member];
    whole[member] = isObject(value) && isObject(before) ? { ...before, ...value } : value;
  }
  return whole;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The service's answer, byte for byte; if it repeats a callback URL of ours, without that. */
export function passOn(reply: FastifyReply, { httpStatus, headers, bytes }: RelayedAnswer): FastifyReply {
  return reply
    .code(httpStatus)
    .headers({ 'content-type': 'application/json', ...headers })
    .send(bytesWithoutOwnCallbacks(bytes));
}
