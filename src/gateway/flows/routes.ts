import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TokenRole } from '../../config/gateway-tokens.js';
import type { FlowView } from '../../flows/messages.js';
import { addressOf, shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { listFlows } from './list.js';
import { answersOfFlow } from './answers.js';
import { approveQuote, cancelFlow, giveRefundInvoice, payInvoice, resolveFlow } from './orders.js';
import { resolvedView } from './resolve-terminated.js';
import { startFlowByHttp } from './start.js';
import { waitForFlow } from './wait.js';

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
