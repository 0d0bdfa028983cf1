import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Settings } from '../../config/settings-shape.js';
import { reportSettlement } from '../../contract/bridge.js';
import { answerNotFound } from '../http/refusal.js';
import { flowAddress, FlowParams } from '../http/flow-path.js';
import { routeOptions } from '../http/route.js';
import type { Capabilities } from './capabilities.js';
import { labelCallback, labelSettlement, labelWebhook } from './match-webhook.js';
import type { Profiles } from './signatures.js';
import { receiveEvent, type Arrival, type ReceiveDeps, serviceProofs, SETTLEMENT_PROOFS } from './receive-event.js';

export interface InboundDeps extends ReceiveDeps {
  readonly settings: Settings;
  readonly capabilities: Capabilities;
  readonly profiles: Profiles;
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

  const endpoint = (
    route: {
      readonly path: string;
      readonly operationId: string;
      readonly summary: string;
      readonly example?: unknown;
    },
    isOpen: (request: FastifyRequest) => boolean,
    arrivalOf: (r: FastifyRequest) => Arrival,
  ): void => {
    const { example, ...about } = route;
    const options = routeOptions({
      ...about,
      method: 'POST',
      tag: 'inbound',
      permission: null,
      params: FlowParams,
      body: { schema: { AnyEvent }, required: true, ...(example === undefined ? {} : { example }) },
      answers: { 200: { says: 'Stored, or known already.', schema: { Received } } },
    });
    server.route({
      ...options,
      config: { ...options.config, unread: true },
      onRequest: async (request, reply): Promise<FastifyReply | undefined> => {
        const arrival = isOpen(request) ? arrivalOf(request) : undefined;
        const hasProof = arrival?.capability === true || arrival?.network === true;
        deps.admission.arrive(request, hasProof, arrival?.flowId);
        if (arrival !== undefined) return undefined;
        // It may be of a key that another process gave the store a moment ago.
        const rotated = await capabilities.refresh().catch(() => false);
        if (rotated && isOpen(request)) return undefined;
        answerNotFound(request, reply);
        return reply;
      },
      preParsing: (request, reply, payload, next) => {
        payload.on('data', (chunk: Buffer) => {
          try {
            deps.admission.received(request, chunk.length);
          } catch (error) {
            // The rest of it is not read.
            void reply.header('connection', 'close');
            payload.emit('error', error);
          }
        });
        next(null, payload);
      },
      handler: async (request, reply): Promise<FastifyReply> => {
        await receiveEvent(deps, request, arrivalOf(request));
        return reply.code(200).send(RECEIVED);
      },
    });
  };

  const settlement =
    (capability: boolean) =>
    (request: FastifyRequest): Arrival => ({
      source: 'settlement',
      profile: profiles.settlement,
      acceptedProofs: settlementProofs,
      capability,
      network: settings.settlementNetworks?.includes(request.ip) ?? false,
      label: labelSettlement,
    });

  endpoint(
    {
      path: reportSettlement.path,
      operationId: 'receiveSettlement',
      summary: "The interface's settlement path. Anyone may post; what nothing proves moves nothing.",
      example: { provider_reference_id: 'order-1001', status: 'COMPLETED' },
    },
    () => true,
    settlement(false),
  );
  endpoint(
    {
      path: '/settlements/:capability',
      operationId: 'receiveSettlementByCapability',
      summary: 'For a settlement provider that cannot sign.',
    },
    (request) => capabilities.isSettlement(param(request, 'capability')),
    settlement(true),
  );
  endpoint(
    {
      path: '/webhooks/:capability',
      operationId: 'receiveWebhook',
      summary: "The service's account-wide webhooks.",
    },
    (request) => capabilities.isWebhook(param(request, 'capability')),
    () => ({
      source: 'webhook',
      profile: profiles.service,
      acceptedProofs: serviceProofs(settings, 'webhook', profiles.serviceCanSign()),
      capability: true,
      network: false,
      label: labelWebhook,
    }),
  );
  endpoint(
    {
      path: '/callbacks/:kind/:reference/:capability',
      operationId: 'receiveCallback',
      summary: "The service's callbacks about one flow.",
    },
    (request) => {
      const flow = addressOf(request);
      return flow !== undefined && capabilities.isCallback(flow.flowId, param(request, 'capability'));
    },
    (request) => {
      const flow = addressOf(request);
      if (flow === undefined) throw new TypeError('a callback without a flow passed its endpoint');
      return {
        source: 'callback',
        profile: profiles.service,
        acceptedProofs: serviceProofs(settings, 'callback', profiles.serviceCanSign()),
        capability: true,
        network: false,
        flowId: flow.flowId,
        label: (body) => labelCallback(flow.kind, flow.reference, flow.flowId, body),
      };
    },
  );
}

function param(request: FastifyRequest, name: string): string {
  return String((request.params as Record<string, unknown>)[name]);
}

function addressOf(request: FastifyRequest) {
  return flowAddress(param(request, 'kind'), param(request, 'reference'));
}
