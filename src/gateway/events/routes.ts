import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Logger } from 'pino';
import type { TokenRole } from '../../config/gateway-tokens.js';
import type { InboxRow, InboxState } from '../../store/inbox.js';
import type { Store } from '../../store/store.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import { addressOf } from '../flows/address.js';
import type { TokenCheck } from '../http/bearer-token.js';
import { bodyOrEmpty } from '../http/json-body.js';
import { parseBody } from '../http/members.js';
import { Refusal } from '../http/refusal.js';
import { eventJson } from './event-json.js';
import { flowOfEvent, isFlowId } from './flow-of-event.js';
import { previewReplay } from './preview-replay.js';

export interface EventRoutesDeps {
  readonly store: Store;
  readonly tokens: TokenCheck;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge'>;
  readonly logger: Logger;
}

export const INBOX_STATES = [
  'waiting',
  'delivered',
  'applied',
  'duplicate',
  'unverified',
  'late',
  'unmatched',
  'conflicting',
] as const satisfies readonly InboxState[];

const page = {
  state: z.enum(INBOX_STATES).optional(),
  after: z
    .string()
    .regex(/^[\w.-]{1,80}$/, 'is not an event id')
    .optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
};
export const PageQuery = z.strictObject(page);
export const ReplayBody = z.strictObject({
  trust: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  flowId: z
    .string()
    .refine(isFlowId, 'is not a flow id: {kind}/{reference}')
    .meta({ description: 'Which flow an event without one is of.' })
    .optional(),
});

/** The inbox, for people: what arrived, what became of it, and the order to deliver it anew. */
export function addEventRoutes(server: FastifyInstance, deps: EventRoutesDeps): void {
  const { inbox } = deps.store;
  const needs = (role: TokenRole) => ({
    onRequest: async (request: FastifyRequest) => void deps.tokens.require(request, role),
  });

  const list = async (request: FastifyRequest, flowId?: string) => {
    const { state, after, limit } = parseBody(PageQuery, request.query, 'The query');
    const rows = await inbox.list({
      limit,
      ...(flowId === undefined ? {} : { flowId }),
      ...(state === undefined ? {} : { state }),
      ...(after === undefined ? {} : { after }),
    });
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
    return { events: rows.map((row) => eventJson(row, { withBody: false })), next };
  };

  server.get('/flows/:kind/:reference/events', needs('flows'), (request) => list(request, addressOf(request).flowId));
  server.get('/events', needs('flows'), (request) => list(request));
  server.get('/events/:id', needs('operator'), async (request) =>
    eventJson(await eventOf(request), { withBody: true }),
  );

  server.post('/events/:id/replay', needs('operator'), async (request, reply) => {
    const actor = deps.tokens.require(request, 'operator').name;
    const { trust, dryRun, flowId: given } = parseBody(ReplayBody, bodyOrEmpty(request));
    const row = await eventOf(request);
    if (row.body === undefined)
      throw new Refusal(409, 'The body of this event was purged: it cannot be delivered anew.');
    const flowId = flowOfEvent(row, given);
    const preview = await previewReplay(deps.reader, row, flowId, trust);
    if (dryRun) return reply.code(200).send({ dryRun: true, ...preview });
    const replayed = await inbox.replay(row.id, { proof: trust ? 'person' : undefined, flowId });
    if (replayed === undefined) throw new Refusal(404, 'There is no such event.');
    if (replayed === 'known') throw new Refusal(409, `${flowId} has an event of the same content already.`);
    deps.logger.info({ flowId, event: row.id, trust, actor }, 'a person replays an event');
    deps.dispatcher.nudge();
    return reply.code(200).send({ dryRun: false, ...preview, event: eventJson(replayed, { withBody: false }) });
  });

  async function eventOf(request: FastifyRequest): Promise<InboxRow> {
    const { id } = request.params as { id: string };
    const row = /^[\w.-]{1,80}$/.test(id) ? await inbox.get(id) : undefined;
    if (row === undefined) throw new Refusal(404, 'There is no such event.');
    return row;
  }
}
