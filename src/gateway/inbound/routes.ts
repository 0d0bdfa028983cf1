import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Settings } from '../../config/settings-shape.js';
import { reportSettlement } from '../../contract/bridge.js';
import { answerNotFound } from '../http/refusal.js';
import { FlowParams } from '../../api/flow.js';
import { flowAddress } from '../http/flow-path.js';
import type { Route } from '../http/openapi.js';
import { routeOptions } from '../http/route.js';
import type { Admission, Admitted } from './admission.js';
import type { Capabilities } from './capabilities.js';
import { labelCallback, labelSettlement, labelWebhook } from './match-webhook.js';
import type { Profiles } from './signatures.js';
import { receiveEvent, type Arrival, type ReceiveDeps, serviceProofs, SETTLEMENT_PROOFS } from './receive-event.js';

export interface InboundDeps extends ReceiveDeps {
  readonly admission: Admission;
  readonly settings: Settings;
  readonly capabilities: Capabilities;
  /** Whether the service signs its webhooks, from whichever gateway knows it. */
  readonly refreshSecrets?: () => Promise<void>;
  readonly profiles: Profiles;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of an endpoint for events, before its body is read. */
    arrived: { readonly arrival: Arrival; readonly admitted: Admitted };
  }
}

interface Endpoint extends Pick<Route, 'path' | 'operationId' | 'summary'> {
  readonly example?: unknown;
  /** Undefined if its capability is wrong. */
  readonly arrivalOf: (request: FastifyRequest) => Arrival | undefined;
}

/** No shape is refused: an event that is not understood is kept, and listed as unmatched. */
const AnyEvent = z
  .unknown()
  .meta({ description: 'Either envelope, either spelling; any other content is stored too.' });

const Received = z.object({ success: z.literal(true), message: z.string(), data: z.object({}) });

/** The same answer for everything that was stored, new or repeated: a sender learns nothing. */
const RECEIVED: z.infer<typeof Received> = { success: true, message: 'Event received', data: {} };

/**
 * The endpoints for webhooks and callbacks. A wrong capability is an unknown path, answered before its body is read.
 */
export function addInboundRoutes(server: FastifyInstance, deps: InboundDeps): void {
  const { settings, capabilities, profiles } = deps;
  const settlementProofs = SETTLEMENT_PROOFS[settings.settlementTrust];

  server.decorateRequest('arrived');
  const endpoint = ({ arrivalOf, example, ...about }: Endpoint): void => {
    server.route({
      ...routeOptions({
        ...about,
        method: 'POST',
        tag: 'inbound',
        permission: null,
        params: FlowParams,
        body: { schema: { AnyEvent }, required: true, ...(example === undefined ? {} : { example }) },
        answers: { 200: { says: 'Stored, or known already.', schema: { Received } } },
      }),
      onRequest: async (request, reply): Promise<FastifyReply | undefined> => {
        await deps.refreshSecrets?.();
        let arrival = arrivalOf(request);
        const admitted = deps.admission(request, arrival);
        // It may be of a key that another process gave the store a moment ago.
        if (arrival === undefined && (await capabilities.refresh().catch(() => false))) arrival = arrivalOf(request);
        if (arrival === undefined) return answerNotFound(request, reply);
        request.arrived = { arrival, admitted };
        return undefined;
      },
      preParsing: (request, reply, payload, next) => {
        const count = (chunk: Buffer): void => {
          try {
            request.arrived.admitted.received(chunk.length);
          } catch (error) {
            // Once: chunks that were read with this one still come, and an error that nobody hears ends the process.
            payload.off('data', count);
            // The rest of it is not read.
            void reply.header('connection', 'close');
            if (payload.listenerCount('error') > 0) payload.emit('error', error);
          }
        };
        payload.on('data', count);
        next(null, payload);
      },
      handler: async (request, reply): Promise<FastifyReply> => {
        const { arrival, admitted } = request.arrived;
        await receiveEvent(deps, request, arrival, admitted);
        return reply.code(200).send(RECEIVED);
      },
    });
  };

  const settlement = (request: FastifyRequest, ...proofs: Arrival['proofs']): Arrival => ({
    source: 'settlement',
    verify: profiles.settlement,
    acceptedProofs: settlementProofs,
    proofs: settings.settlementNetworks?.includes(request.ip) === true ? [...proofs, 'network'] : proofs,
    label: labelSettlement,
  });
  const ofService = (source: 'webhook' | 'callback') => ({
    source,
    verify: profiles.service,
    acceptedProofs: serviceProofs(settings, source, profiles.serviceCanSign()),
    proofs: ['capability'] as const,
  });

  endpoint({
    path: reportSettlement.path,
    operationId: 'receiveSettlement',
    summary: "The interface's settlement path. Anyone may post; what nothing proves moves nothing.",
    example: { provider_reference_id: 'order-1001', status: 'COMPLETED' },
    arrivalOf: (request) => settlement(request),
  });
  endpoint({
    path: '/settlements/:capability',
    operationId: 'receiveSettlementByCapability',
    summary: 'For a settlement provider that cannot sign.',
    arrivalOf: (request) =>
      capabilities.isSettlement(param(request, 'capability')) ? settlement(request, 'capability') : undefined,
  });
  endpoint({
    path: '/webhooks/:capability',
    operationId: 'receiveWebhook',
    summary: "The service's account-wide webhooks.",
    arrivalOf: (request) =>
      capabilities.isWebhook(param(request, 'capability'))
        ? { ...ofService('webhook'), label: labelWebhook }
        : undefined,
  });
  endpoint({
    path: '/callbacks/:kind/:reference/:capability',
    operationId: 'receiveCallback',
    summary: "The service's callbacks about one flow.",
    arrivalOf(request) {
      const flow = flowAddress(param(request, 'kind'), param(request, 'reference'));
      if (flow === undefined || !capabilities.isCallback(flow.flowId, param(request, 'capability'))) return undefined;
      const label = (body: unknown) => labelCallback(flow.kind, flow.reference, flow.flowId, body);
      return { ...ofService('callback'), flowId: flow.flowId, label };
    },
  });
}

function param(request: FastifyRequest, name: string): string {
  return String((request.params as Record<string, unknown>)[name]);
}
