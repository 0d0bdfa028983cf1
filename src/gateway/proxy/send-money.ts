import type { FastifyReply } from 'fastify';
import { sameFingerprint } from '../../protocol/fingerprint.js';
import { UPDATES } from '../../protocol/vocabulary.js';
import { answerUpdateId, awaitUpdate, startAndAwaitAnswer, type Waiting } from '../../temporal/await-answer.js';
import { flowFingerprint } from '../../store/store-key.js';
import { OtherRequestError, startFlow, type Starter } from '../../temporal/start-flow.js';
import { operations, type MoneyOperationName } from '../../contract/index.js';
import { recordingStart } from '../flows/start.js';
import type { Caller } from '../http/bearer-token.js';
import { isReference } from '../../api/flow.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';
import { answerByState, answerOfClaim, answerOfFlow, claimOf, otherRequest } from './known-answer.js';
import type { MoneyRequest, SentReference } from './money-request.js';

/**
 * Starts or finds the flow of a money POST, and answers with the service's answer as soon as it is known; else 202. The
 * same request again finds the same flow, whose answer its claim keeps for ever.
 *
 * @returns whether a flow was started that may still have its POST to send. One that is answered has sent it, and a
 * repetition gets the same answer from Temporal as the request that started the flow.
 */
export async function sendMoney(
  deps: ProxyDeps,
  caller: Caller,
  request: MoneyRequest,
  reply: FastifyReply,
): Promise<{ readonly started: boolean }> {
  const { address, input } = request;
  const waiting: Waiting = { withinMs: deps.settings.proxyTimeoutMs, signal: deps.closing };
  const startedMs = deps.monotonicMs();
  const first = await recordingStart(deps, caller, request, async (startId, found) => {
    const by = { startId, name: caller.name };
    const waited = await startAndAwaitAnswer(deps, address.kind, input, waiting, by);
    if (waited.kind === 'exists') {
      await found();
      await joinFlow(deps, request, reply, { ...waiting, withinMs: left(deps, startedMs) });
    }
    if (waited.kind === 'not-yet' && !(await isThere(deps, request, by))) throw otherRequest(request);
    if (waited.kind === 'not-yet') await found();
    return waited;
  });
  if (first.kind === 'exists') return { started: false };
  const isAnswered = first.kind === 'answered' && (await answerOfFlow(deps, request, reply, first.answer));
  if (!isAnswered) await answerByState(deps, request, reply);
  return { started: !isAnswered };
}

/**
 * The time was up before Temporal confirmed the flow: a 202 is sent only if the flow exists. If the start succeeded
 * after all, this start finds the same flow. False if another request was faster.
 */
export async function isThere(deps: ProxyDeps, request: MoneyRequest, by: Starter): Promise<boolean> {
  try {
    await startFlow(deps, request.address.kind, request.input, by);
    return true;
  } catch (error) {
    if (error instanceof OtherRequestError) return false;
    throw error;
  }
}

/** The reference has a flow. @throws Refusal 409 if it is about something else */
async function joinFlow(deps: ProxyDeps, request: MoneyRequest, reply: FastifyReply, waiting: Waiting): Promise<void> {
  const { definition, address, input } = request;
  const fingerprint = flowFingerprint(deps.store, definition, input);
  const [facts, claim] = await Promise.all([deps.reader.facts(address.flowId), claimOf(deps, request)]);
  // A flow that another client started has none: then its claim decides, once there is one.
  if (facts?.fingerprint !== undefined && !sameFingerprint(facts.fingerprint, fingerprint)) throw otherRequest(request);
  if (await answerOfClaim(deps, reply, request, claim)) return;
  if (facts?.isOpen === true) {
    const update = { name: UPDATES.answer, id: answerUpdateId(fingerprint), args: [] };
    const waited = await awaitUpdate(deps.client, address.flowId, update, waiting);
    if (waited.kind === 'answered' && (await answerOfFlow(deps, request, reply, waited.answer))) return;
  }
  await answerByState(deps, request, reply);
}

/** The rest of the time in which a caller is to get an answer; enough for one read if it is over. */
export function left({ settings, monotonicMs }: ProxyDeps, startedMs: number): number {
  return Math.max(LEAST_MS, settings.proxyTimeoutMs - (monotonicMs() - startedMs));
}

const LEAST_MS = 100;

export function sentReference(name: MoneyOperationName, body: unknown, newReference: () => string): SentReference {
  const { reference: member } = operations[name];
  const given = typeof body === 'object' && body !== null && Object.hasOwn(body, member);
  if (!given) return { member, reference: newReference(), isOurs: true };
  const reference = (body as Record<string, unknown>)[member];
  return { member, reference: isReference(reference) ? reference : undefined, isOurs: false };
}

/**
 * A money POST that failed on our side may still have started its flow, which then pays. So the answer has the
 * reference for a repetition.
 */
export function withReference(error: unknown, { member, reference, isOurs }: SentReference): Refusal {
  const { status, message, details, retryAfter } = error instanceof Refusal ? error : NOT_KNOWN_YET;
  // A reference that we made is not worth knowing if nothing was started under it.
  const isKnown = reference !== undefined && (!isOurs || status >= 500);
  const along = `Send "${member}": "${reference}" along: without it, it is another payment.`;
  return new Refusal(
    status,
    isKnown && isOurs ? `${message} ${along}` : message,
    isKnown ? { reference, ...details } : details,
    retryAfter,
  );
}

const NOT_KNOWN_YET = new Refusal(
  503,
  'The outcome of this request is not known yet. Send it again: one reference is one flow.',
  { code: 'outcome_unknown' },
  RETRY_AFTER_SECONDS,
);
