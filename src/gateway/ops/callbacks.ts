import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { TokenRole } from '../../config/gateway-tokens.js';
import type { CallbackHandles, CallbackFacts, ListedCallbacks } from '../../temporal/callback-handle.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { parseFlowId } from '../../protocol/vocabulary.js';
import type { CallbackJson, CallbacksJson, DeliveredJson, ListedCallbacksJson } from '../../protocol/gateway-json.js';
import { addressOf } from '../flows/address.js';
import type { TokenCheck } from '../http/bearer-token.js';
import { type FlowAddress, parseBody } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { CallbackFailure, Notification } from '../../protocol/callbacks.js';

export interface CallbackRoutesDeps {
  readonly tokens: TokenCheck;
  readonly callbacks: CallbackHandles;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly logger: Logger;
}

export const ListQuery = z.strictObject({
  state: z.enum(['undelivered', 'open']).default('undelivered'),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

/** Callbacks to callers, for people: how far they got, those that could not be delivered, and the order to send again. */
export function addCallbackRoutes(server: FastifyInstance, deps: CallbackRoutesDeps): void {
  const { callbacks, reader, tokens, logger } = deps;
  const needs = (role: TokenRole) => ({
    onRequest: async (request: FastifyRequest) => void tokens.require(request, role),
  });

  const shown = async (address: FlowAddress) => {
    const facts = await callbacks.facts(address.flowId);
    if (facts === undefined && (await reader.facts(address.flowId)) === undefined) {
      throw new Refusal(404, `There is no flow ${address.flowId}.`, { reference: address.reference });
    }
    return callbacksJson(address, facts);
  };

  server.get('/callbacks', needs('flows'), async (request) => {
    const { state, limit } = parseBody(ListQuery, request.query, 'The query');
    return { callbacks: (await callbacks.list(state, limit)).map(listedJson) };
  });
  server.get('/flows/:kind/:reference/callbacks', needs('flows'), (request) => shown(addressOf(request)));
  server.post('/flows/:kind/:reference/callbacks/resend', needs('operator'), async (request) => {
    const actor = tokens.require(request, 'operator').name;
    const address = addressOf(request);
    const { flowId, reference } = address;
    const outcome = await callbacks.resend(flowId, actor);
    if (outcome === 'not-found') {
      throw new Refusal(404, `Nothing was sent for ${flowId}: it has no callbackUrl, or has not changed yet.`, {
        reference,
      });
    }
    if (outcome === 'no-answer') throw new Refusal(503, 'No worker answers. Send it again later.', { reference }, 5);
    logger.info({ flowId, actor }, 'a person has a callback sent again');
    return shown(address);
  });
}

function callbacksJson({ kind, reference, flowId }: FlowAddress, facts: CallbackFacts | undefined): CallbacksJson {
  const state = facts === undefined ? 'none' : 'unknown';
  const nothing = { current: null, since: null, attempts: 0, lastFailure: null, nextAttemptAt: null, delivered: null };
  if (facts?.report === undefined) return { kind, reference, flowId, state, to: null, ...nothing };
  const { report, attempts, lastFailure, nextAttemptAt } = facts;
  const { current, delivered } = report;
  const failure = report.failure ?? lastFailure;
  return {
    kind,
    reference,
    flowId,
    state: report.state,
    to: originOf(report.order.url),
    current: current === null ? null : shown(current),
    since: report.since,
    attempts: report.failure?.attempt ?? attempts,
    lastFailure: failure === undefined ? null : shownFailure(failure),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    delivered: delivered === null ? null : { ...shown(delivered.notification), ...deliveredAs(delivered) },
  };
}

function listedJson({ flowId, startedAt }: ListedCallbacks): ListedCallbacksJson {
  const { kind, reference } = parseFlowId(flowId) ?? { kind: null, reference: flowId };
  return { kind, reference, flowId, startedAt: startedAt.toISOString() };
}

const shown = ({ id, change, skipped }: Notification): CallbackJson => ({
  id,
  timestamp: change.timestamp,
  flowState: change.state,
  stage: change.stage,
  skipped: skipped.length,
});

const shownFailure = ({ problem, httpStatus, at }: CallbackFailure) => ({ problem, httpStatus, at });

const deliveredAs = ({ at, httpStatus, attempts }: DeliveredJson): DeliveredJson => ({ at, httpStatus, attempts });

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);
