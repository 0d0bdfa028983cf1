import type { FastifyReply, FastifyRequest } from 'fastify';
import { flowOf } from '../../flows/index.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import { viewOfNewFlow } from '../../temporal/flow-handle.js';
import { OtherRequestError, startFlow } from '../../temporal/start-flow.js';
import { isLoopback } from '../../protocol/loopback.js';
import { withCardTaken } from '../cards/take-card.js';
import { bodyOf } from '../http/json-body.js';
import { flowAddress, parseBody } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { FlowOperationDeps } from './deps.js';
import { shownFlow, checkCallbackUrl } from './address.js';

/** `POST /flows/{kind}`: 201 and the new flow, 200 and the flow that the same request started before, 409 for another. */
export async function startFlowByHttp(deps: FlowOperationDeps, request: FastifyRequest, reply: FastifyReply) {
  const { kind: word } = request.params as { kind: string };
  const kind = FLOW_KINDS.find((candidate) => candidate === word);
  if (kind === undefined) {
    throw new Refusal(404, `There is no flow of this kind. This version has: ${FLOW_KINDS.join(', ')}.`);
  }
  const definition = flowOf(kind);
  const body = withTimeScale(deps, bodyOf(request).value);
  const start = (taken: unknown) => startAndAnswer(deps, { kind, definition, body: taken }, reply);
  if (kind === 'card-deposit') await withCardTaken(deps.cards, body, start);
  else await start(body);
  return reply;
}

async function startAndAnswer(
  deps: FlowOperationDeps,
  { kind, definition, body }: { kind: FlowKind; definition: FlowDefinition; body: unknown },
  reply: FastifyReply,
): Promise<{ started: boolean }> {
  const input = parseBody(definition.input, body, `The input of ${kind}`);
  checkCallbackUrl(deps.settings, input);
  const address = flowAddress(kind, definition.referenceOf(input));
  if (address === undefined) throw new Refusal(400, 'The reference is not one of ours.');
  const { reference, flowId } = address;
  const location = `/flows/${kind}/${reference}`;
  try {
    const { started } = await startFlow(deps, kind, input);
    void reply.header('location', location);
    if (!started) void reply.code(200).send(await shownFlow(deps.reader, address));
    else {
      deps.dispatcher.releaseWaiting(flowId);
      void reply.code(201).send(viewOfNewFlow(flowId, new Date(deps.nowMs())));
    }
    return { started };
  } catch (error) {
    if (error instanceof OtherRequestError) throw new Refusal(409, error.message, { reference });
    throw error;
  }
}

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
