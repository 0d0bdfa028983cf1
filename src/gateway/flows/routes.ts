import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  Flow,
  FlowPage,
  FlowPageQuery,
  FlowParams,
  ProposalList,
  type ServiceAnswer,
  ServiceAnswers,
} from '../../api/flow.js';
import { limit } from '../../api/json.js';
import type { Claim } from '../../store/claim.js';
import type { Asker } from '../../temporal/questions.js';
import { addressOf, type FlowAddress } from '../http/flow-path.js';
import { whenAnswered } from '../http/places.js';
import { readCharged } from './charged-pages.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { shownFlow, withoutOwnCallbacks } from './address.js';
import { addContradictionRoutes } from './contradictions.js';
import type { FlowOperationDeps } from './deps.js';
import { flowJson } from './flow-json.js';
import { listFlows } from './list.js';
import { addOrderRoutes } from './orders.js';
import { addStartRoutes } from './start.js';

const ProposalsQuery = z.strictObject({
  limit: limit(100),
  after: z.string().max(80).optional().meta({ description: '`next` of the page before.' }),
});

const WaitQuery = z.strictObject({ timeoutSeconds: z.coerce.number().min(0).max(300).default(30) });

const read = { method: 'GET', tag: 'flows', permission: 'view' } as const;
const shown = { 200: { says: 'The flow.', schema: { Flow } } } as const;

/** `/flows`: start, list, show, wait, the service's answers, and orders. */
export async function flows(server: FastifyInstance, deps: FlowOperationDeps): Promise<void> {
  const { owners } = deps;
  addStartRoutes(server, deps);
  addRoute(server, {
    ...read,
    path: '/flows',
    operationId: 'listFlows',
    summary: 'Lists flows, newest first.',
    description: 'Lags behind by a second or so.',
    query: FlowPageQuery,
    answers: { 200: { says: 'Flows.', schema: { FlowList: FlowPage } } },
    handler: ({ caller, query }) => listFlows(deps, caller, query),
  });
  addRoute(server, {
    ...read,
    params: FlowParams,
    path: '/flows/:kind/:reference',
    operationId: 'showFlow',
    summary: 'Shows a flow.',
    answers: shown,
    handler: async ({ caller, params }) => flowJson(deps, await shownFlow(deps.reader, addressOf(params), caller)),
  });
  addRoute(server, {
    ...read,
    params: FlowParams,
    path: '/flows/:kind/:reference/wait',
    operationId: 'waitForFlow',
    summary: 'Shows a flow as soon as it ended or parked, or as it is when the time is up.',
    query: WaitQuery,
    answers: shown,
    handler: async ({ request, caller, params, query: { timeoutSeconds } }) => {
      await waitForFlow(deps, addressOf(params), timeoutSeconds, request);
      return flowJson(deps, await shownFlow(deps.watch, addressOf(params), caller));
    },
  });
  addRoute(server, {
    ...read,
    permission: 'read-service',
    params: FlowParams,
    path: '/flows/:kind/:reference/answers',
    operationId: 'showAnswers',
    summary: "What the service answered to the flow's requests: where to send a customer, what to pay.",
    answers: { 200: { says: 'The answers so far, oldest first.', schema: { FlowAnswers: ServiceAnswers } } },
    handler: async ({ params, caller }) => {
      const address = addressOf(params);
      const answers = await answersOfFlow(deps, address, caller);
      // Before they are shown, and not for flows that do not exist: there are any number of those.
      await deps.readings.record(caller, { kind: 'read-answers', flowId: address.flowId });
      return answers;
    },
  });
  addRoute(server, {
    ...read,
    path: '/proposals',
    operationId: 'listProposals',
    summary: 'Lists orders that wait for a second person.',
    query: ProposalsQuery,
    answers: { 200: { says: 'Orders, the oldest first.', schema: { Proposals: ProposalList } } },
    handler: async ({ caller, query: { limit, after } }) => {
      const begunBy = owners.isForAll(caller, 'view') ? undefined : caller.name;
      const open = await readCharged(deps.takePage, caller.name, limit, () =>
        deps.store.proposals.open({ limit, after, begunBy }),
      );
      const theirs = await owners.theirs(caller, 'view', open);
      const proposals = theirs.map(({ flowId, action, by, at, expiresAt }) => ({ flowId, action, by, at, expiresAt }));
      return { proposals, next: open.length === limit ? (open.at(-1)?.id ?? null) : null };
    },
  });
  addOrderRoutes(server, deps);
  addContradictionRoutes(server, deps);
}

/**
 * The service's answers to the flow's POSTs so far, oldest first: where to send a customer (`redirect_url`), or what
 * they have to pay. They may hold personal data, and are in no list and no log.
 */
async function answersOfFlow(deps: FlowOperationDeps, address: FlowAddress, asker: Asker): Promise<ServiceAnswers> {
  const claims = await deps.store.claims.ofFlow(address.flowId);
  // Without a claim nothing was sent; a flow that does not exist is a 404 and not an empty list.
  if (claims.length === 0) await shownFlow(deps.reader, address, asker);
  return { flowId: address.flowId, answers: claims.flatMap(answerOf) };
}

function answerOf({ operation, phase, answer, rejection, erased }: Claim): ServiceAnswer[] {
  if (erased) return [{ operation, erased: phase === 'answered' ? 'answer' : 'refusal' }];
  if (phase === 'answered' && answer === undefined) {
    const why = 'this gateway lacks its payload key, or its seal is broken';
    throw new Refusal(503, `The answer to ${operation} cannot be decrypted: ${why}.`);
  }
  if (phase === 'answered') return [{ operation, data: withoutOwnCallbacks(answer) }];
  return phase === 'rejected' && rejection !== undefined ? [{ operation, rejected: rejection }] : [];
}

/**
 * Until the flow ended or parked, or the time is up. Queries only the server, which knows both; the worker is queried
 * once, when it is shown.
 */
async function waitForFlow(
  deps: FlowOperationDeps,
  address: FlowAddress,
  timeoutSeconds: number,
  request: FastifyRequest,
): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutSeconds * 1_000);
  whenAnswered(request, () => over.abort());
  try {
    await deps.watch.untilStill(address.flowId, over.signal);
  } finally {
    clearTimeout(timer);
  }
}
