import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenRole } from '../../config/gateway-tokens.js';
import type { FlowView, Rejection } from '../../protocol/messages.js';
import type { Claim } from '../../store/claim.js';
import { parseBody } from '../http/flow-path.js';
import { addressOf, shownFlow, withoutOwnCallbacks } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { listFlows } from './list.js';
import { approveQuote, cancelFlow, giveRefundInvoice, payInvoice, resolveFlow } from './orders.js';
import { resolvedView } from './resolve-terminated.js';
import { startFlowByHttp } from './start.js';

/** `/flows`: start, list, show, wait, the service's answers, and orders. Every path needs a token before its body is read. */
export function addFlowRoutes(server: FastifyInstance, deps: FlowOperationDeps): void {
  const needs = (role: TokenRole) => ({
    onRequest: async (request: FastifyRequest) => void deps.tokens.require(request, role),
  });
  const resolved = (view: FlowView): Promise<FlowView> => resolvedView(view, deps.store);

  server.get('/flows', needs('flows'), (request) => listFlows(deps, request));
  server.post('/flows/:kind', needs('flows'), (request, reply) => startFlowByHttp(deps, request, reply));
  server.get('/flows/:kind/:reference', needs('flows'), async (request) =>
    resolved(await shownFlow(deps.reader, addressOf(request))),
  );
  server.get('/flows/:kind/:reference/wait', needs('flows'), async (request) =>
    resolved(await waitForFlow(deps, request)),
  );
  server.post('/flows/:kind/:reference/cancel', needs('flows'), (request) => cancelFlow(deps, request));
  server.post('/flows/:kind/:reference/approve-quote', needs('flows'), (request) => approveQuote(deps, request));
  server.post('/flows/:kind/:reference/pay', needs('flows'), (request) => payInvoice(deps, request));
  server.post('/flows/:kind/:reference/refund-invoice', needs('flows'), (request) => giveRefundInvoice(deps, request));
  server.get('/flows/:kind/:reference/answers', needs('flows'), (request) => answersOfFlow(deps, request));
  server.post('/flows/:kind/:reference/resolve', needs('operator'), (request) => resolveFlow(deps, request));
}

/** What the service answered to one POST of a flow: its `data`, or its refusal. */
export type KnownAnswer =
  { readonly operation: string; readonly data: unknown } | { readonly operation: string; readonly rejected: Rejection };

/**
 * `GET …/answers`: what the service answered to the flow's POSTs so far, oldest first: where a customer is to be sent
 * (`redirect_url`), or what they are to pay. It may hold personal data, and is in no list and no log.
 */
async function answersOfFlow(
  deps: FlowOperationDeps,
  request: FastifyRequest,
): Promise<{ flowId: string; answers: readonly KnownAnswer[] }> {
  const address = addressOf(request);
  const claims = await deps.store.claims.ofFlow(address.flowId);
  // Without a claim nothing was sent; what does not exist at all is a 404 and not an empty list.
  if (claims.length === 0) await shownFlow(deps.reader, address);
  return { flowId: address.flowId, answers: claims.flatMap(answerOf) };
}

function answerOf({ operation, phase, answer, rejection }: Claim): KnownAnswer[] {
  if (phase === 'answered') return [{ operation, data: withoutOwnCallbacks(answer) }];
  return phase === 'rejected' && rejection !== undefined ? [{ operation, rejected: rejection }] : [];
}

export const WaitQuery = z.strictObject({ timeoutSeconds: z.coerce.number().min(0).max(300).default(30) });

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * `GET …/wait`: the flow as soon as it ended or parked, or as it is when the time is up. Asks the server alone, which
 * knows both; the worker is asked once, at the end.
 */
async function waitForFlow(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const address = addressOf(request);
  const { timeoutSeconds } = parseBody(WaitQuery, request.query, 'The query');
  const endsAtMs = deps.monotonicMs() + timeoutSeconds * 1_000;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const facts = await deps.reader.facts(address.flowId);
    const leftMs = endsAtMs - deps.monotonicMs();
    const goesOn = facts?.state === 'running' && leftMs > 0 && !deps.closing.aborted && !request.raw.socket.destroyed;
    if (!goesOn) return shownFlow(deps.reader, address);
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal: deps.closing }).catch(() => undefined);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
  }
}
