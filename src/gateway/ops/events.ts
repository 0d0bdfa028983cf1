import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Logger } from 'pino';
import type { TokenRole } from '../../config/gateway-tokens.js';
import type { Store } from '../../store/store.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { flowOf } from '../../flows/index.js';
import { parseFlowId } from '../../protocol/vocabulary.js';
import type { FlowEvent } from '../../protocol/messages.js';
import { eventOfRow } from '../../flows/event-of-row.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import { addressOf } from '../flows/address.js';
import type { TokenCheck } from '../http/bearer-token.js';
import { bodyOrEmpty } from '../http/json-body.js';
import { parseBody, flowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { InboxRow, InboxState } from '../../protocol/events.js';

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

/** The inbox, for people: what arrived, its state, and the order to deliver it anew. */
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

/** An inbox row as JSON. The body may hold names and phone numbers: only who may resolve sees it. */
function eventJson(row: InboxRow, options: { readonly withBody: boolean }) {
  const { contentHash: _hash, body, ...shown } = row;
  return options.withBody ? { ...shown, body: body ?? null } : shown;
}

/** Whether a text is the id of a flow that may be. */
function isFlowId(text: string): boolean {
  const flow = parseFlowId(text);
  return flow !== undefined && flowAddress(flow.kind, flow.reference) !== undefined;
}

/**
 * The flow that an event is delivered to anew. If it could not be matched, a person says it (`given`); where its body
 * names a reference, that one must be the flow's.
 *
 * @throws Refusal 409
 */
function flowOfEvent(row: Pick<InboxRow, 'flowId' | 'body'>, given: string | undefined): string {
  if (row.flowId !== null) {
    if (given === undefined || given === row.flowId) return row.flowId;
    throw new Refusal(409, `The event is of ${row.flowId}: it is not delivered to another flow.`);
  }
  if (given === undefined) {
    throw new Refusal(409, 'The event names no flow: say which one it is of, as flowId, "{kind}/{reference}".');
  }
  const flow = parseFlowId(given);
  const named = flow === undefined ? null : flowOf(flow.kind).readEvent(row.body)?.reference;
  if (named != null && named !== flow?.reference) {
    throw new Refusal(409, 'The body of this event names another reference than that flow has.');
  }
  return given;
}

/** What a replay would do, in words and as the flow would see the event. */
export interface ReplayPreview {
  readonly would: string;
  readonly flowState: string | null;
  readonly asEvent: FlowEvent | null;
}

async function previewReplay(
  reader: Pick<FlowReader, 'facts'>,
  row: InboxRow,
  flowId: string,
  trust: boolean,
): Promise<ReplayPreview> {
  const vouched: InboxRow = trust ? { ...row, proof: 'person' } : row;
  const event = eventOfRow(flowId, vouched);
  const facts = await reader.facts(flowId);
  const asEvent = event === undefined || event === 'conflicting' ? null : event;
  return { would: sentence(event, facts), flowState: facts?.state ?? null, asEvent };
}

function sentence(event: ReturnType<typeof eventOfRow>, facts: Awaited<ReturnType<FlowReader['facts']>>): string {
  if (event === 'conflicting') return 'Be listed as conflicting: its body names another flow than its path.';
  if (event === undefined) return 'Be listed as unmatched: this version has no flow of that kind.';
  if (facts === undefined) return 'Wait for its flow, which does not exist; an old event is listed as unmatched again.';
  if (!facts.isOpen) return `Be listed as late: the flow has ended as ${facts.state}.`;
  return event.trusted ? 'Be delivered as trusted.' : 'Be delivered as unverified.';
}
