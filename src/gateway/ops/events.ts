import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { flowOf } from '../../flows/index.js';
import { parseFlowId } from '../../protocol/vocabulary.js';
import type { EventPage, ShownEvent } from '../../protocol/gateway-json.js';
import type { FlowEvent } from '../../protocol/messages.js';
import { eventOfRow } from '../../flows/event-of-row.js';
import { needsSecondPerson } from '../../flows/four-eyes.js';
import { TRUST_EVENT } from '../../protocol/four-eyes.js';
import type { Settings } from '../../config/settings-shape.js';
import { recordingRefusals } from '../flows/give-order.js';
import { secondPerson } from '../flows/second-person.js';
import type { Proposal } from '../../store/proposal.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import { type TokenCheck, whoIs } from '../http/bearer-token.js';
import { addressOf, flowAddress, FlowParams } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import type { MembersOf } from '../http/openapi.js';
import { addRoute } from '../http/route.js';
import { INBOX_STATES, type InboxRow } from '../../protocol/events.js';

export interface EventRoutesDeps {
  readonly store: Store;
  readonly settings: Pick<Settings, 'fourEyes'>;
  readonly tokens: TokenCheck;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge'>;
  readonly logger: Logger;
}

const SECOND = 'Once a second person orders the same:';

const EVENT_ID = /^[A-Za-z0-9_.-]{1,80}$/;
const EventParams = z.object({ id: z.string().regex(EVENT_ID) });

const PageQuery = z.strictObject({
  state: z.enum(INBOX_STATES).optional(),
  after: z.string().regex(EVENT_ID, 'is not an event id').optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});
const ReplayBody = z.strictObject({
  trust: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  note: z.string().max(1_000).optional().meta({ description: 'Why; kept in the register.' }),
  flowId: z
    .string()
    .refine(isFlowId, 'is not a flow id: {kind}/{reference}')
    .meta({ description: 'Which flow an event without one is of.' })
    .optional(),
});

const at = () => z.iso.datetime();

const Event = z.looseObject({
  id: z.string(),
  source: z.enum(['callback', 'settlement', 'webhook']),
  flowId: z.string().nullable(),
  reference: z.string().nullable(),
  status: z.string().nullable(),
  proof: z.string().nullable().meta({ description: 'Why it is trusted; null while it is not.' }),
  state: z.enum(INBOX_STATES),
  detail: z.string().nullable(),
  receivedAt: at(),
  deliveredAt: at().nullable(),
  settledAt: at().nullable(),
  repeats: z.int().meta({ description: 'How often the same content came again.' }),
  body: z.unknown().optional().meta({ description: 'Only where one event is shown; null once it was purged.' }),
  unreadable: z.string().optional().meta({ description: 'Why its body and detail cannot be opened.' }),
  isBroken: z.literal(true).optional().meta({ description: 'What cannot be opened is damaged: no key will open it.' }),
} satisfies MembersOf<ShownEvent>);

const EventList = z.object({
  events: z.array(Event),
  next: z.string().nullable().meta({ description: '`after` of the next page.' }),
} satisfies MembersOf<EventPage>);

const Replay = z.looseObject({
  dryRun: z.boolean(),
  would: z.string(),
  flowState: z.string().nullable(),
  event: Event.optional(),
});

/** The inbox, for people: what arrived, its state, and the order to deliver it anew. */
export function addEventRoutes(server: FastifyInstance, deps: EventRoutesDeps): void {
  const { tokens } = deps;
  const { inbox } = deps.store;

  const list = async ({ state, after, limit }: z.infer<typeof PageQuery>, flowId?: string): Promise<EventPage> => {
    const rows = await inbox.list({
      limit,
      bodies: false,
      ...(flowId === undefined ? {} : { flowId }),
      ...(state === undefined ? {} : { state }),
      ...(after === undefined ? {} : { after }),
    });
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
    return { events: rows.map((row) => eventJson(row, { withBody: false })), next };
  };
  const lists = {
    method: 'GET',
    tag: 'events',
    permission: 'view',
    query: PageQuery,
    answers: { 200: { says: 'Events, without their bodies.', schema: { EventList } } },
  } as const;

  addRoute(
    server,
    tokens,
    {
      ...lists,
      params: FlowParams,
      path: '/flows/:kind/:reference/events',
      operationId: 'listEventsOfFlow',
      summary: 'Lists the events of a flow, newest first.',
    },
    ({ params, query }) => list(query, addressOf(params).flowId),
  );
  addRoute(
    server,
    tokens,
    { ...lists, path: '/events', operationId: 'listEvents', summary: 'Lists events, newest first.' },
    ({ query }) => list(query),
  );
  addRoute(
    server,
    tokens,
    {
      method: 'GET',
      params: EventParams,
      path: '/events/:id',
      operationId: 'showEvent',
      tag: 'events',
      summary: 'Shows an event with its body, which may hold personal data.',
      permission: 'read-event',
      answers: { 200: { says: 'The event.', schema: { Event } } },
    },
    async ({ params, caller }) => {
      const row = await eventOf(params.id);
      const about = { flowId: row.flowId ?? undefined, subject: row.id, ...whoIs(caller) };
      await deps.store.audit.append({ ...about, kind: 'read-event' });
      return eventJson(row, { withBody: true });
    },
  );
  addRoute(
    server,
    tokens,
    {
      method: 'POST',
      params: EventParams,
      path: '/events/:id/replay',
      operationId: 'replayEvent',
      tag: 'events',
      summary: 'Delivers an event anew; `trust` vouches for it; `dryRun` only says what would happen.',
      permission: 'replay-event',
      body: { schema: { ReplayBody }, required: false, example: { dryRun: true } },
      answers: {
        200: { says: 'What happened, or would.', schema: { Replay } },
        202: { says: 'To vouch for it waits for a second person, who orders the same.', schema: { Replay } },
      },
    },
    async ({ reply, params, caller, body: { trust, dryRun, flowId: given, note = '' } }) => {
      const row = await eventOf(params.id);
      if (row.body === undefined) throw new Refusal(409, whyNoBody(row));
      const flowId = flowOfEvent(row, given);
      const preview = await previewReplay(deps.reader, row, flowId, trust);
      if (dryRun) return { dryRun: true, ...preview };
      const about = { flowId, subject: row.id, ...whoIs(caller) };
      let confirmed: Proposal | undefined;
      if (trust && needsSecondPerson(deps.settings.fourEyes, TRUST_EVENT)) {
        const asked = { flowId, topic: row.id, subject: row.id, action: TRUST_EVENT, choice: {}, note };
        const proposal = await recordingRefusals(deps, { ...about, action: TRUST_EVENT }, note, () =>
          secondPerson(deps, caller, asked),
        );
        if (proposal === undefined) {
          void reply.code(202);
          return { dryRun: false, ...preview, would: `${SECOND} ${preview.would}` };
        }
        confirmed = proposal;
      }
      const action = trust ? TRUST_EVENT : 'replay';
      await deps.store.audit.append({ ...about, kind: 'replay-event', action, details: { note } });
      const replayed = await inbox.replay(row.id, { proof: trust ? 'person' : undefined, flowId });
      if (replayed === undefined) throw new Refusal(404, 'There is no such event.');
      if (confirmed !== undefined) await deps.store.proposals.end(confirmed, true);
      deps.logger.info({ flowId, event: row.id, trust, actor: caller.name }, 'a person replays an event');
      deps.dispatcher.nudge();
      return { dryRun: false, ...preview, event: eventJson(replayed, { withBody: false }) };
    },
  );

  async function eventOf(id: string): Promise<InboxRow> {
    const row = await inbox.get(id);
    if (row === undefined) throw new Refusal(404, 'There is no such event.');
    return row;
  }
}

/** An inbox row as JSON. The body may hold names and phone numbers: only who may resolve sees it. */
function eventJson(row: InboxRow, options: { readonly withBody: boolean }): ShownEvent {
  const { contentHash: _hash, body, ...shown } = row;
  return options.withBody ? { ...shown, body: body ?? null } : shown;
}

/** Why an event cannot be delivered anew, and what to do. */
function whyNoBody({ unreadable, isBroken }: Pick<InboxRow, 'unreadable' | 'isBroken'>): string {
  if (unreadable === undefined) return 'The body of this event was purged: it cannot be delivered anew.';
  const remedy = isBroken
    ? 'Its row is damaged, and no key opens it: have it sent again, or decide by a status lookup.'
    : 'Give this gateway that key in PAYLOAD_KEYS, then replay the event.';
  return `This event cannot be opened (${unreadable}). ${remedy}`;
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
interface ReplayPreview {
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
