import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { Logger } from 'pino';
import type { Store } from '../../store/store.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { EventPage, EventPageQuery, EventParams, ShownEvent } from '../../api/events.js';
import { FlowParams } from '../../api/flow.js';
import type { Settings } from '../../config/settings-shape.js';
import type { Readings } from '../flows/readings.js';
import { proposedOrder } from '../flows/second-person.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { Caller } from '../http/bearer-token.js';
import { addressOf } from '../http/flow-path.js';
import type { Budget } from '../flows/budget.js';
import { gatherPages, readCharged, ROWS_OF_A_PAGE, type TakePages } from '../flows/charged-pages.js';
import type { Owners } from '../http/owners.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import type { InboxRow } from '../../protocol/events.js';

export interface EventRoutesDeps {
  readonly store: Store;
  readonly settings: Pick<Settings, 'fourEyes'>;
  readonly owners: Owners;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge'>;
  readonly readings: Readings;
  /** Of the lists of the store. */
  readonly takePage: TakePages;
  readonly budget: Budget;
  readonly logger: Logger;
}

type PageQuery = z.infer<typeof EventPageQuery>;

/** The inbox, for people: what arrived, its state, and the order to deliver it again. */
export function addEventRoutes(server: FastifyInstance, deps: EventRoutesDeps): void {
  const { owners } = deps;
  const { inbox } = deps.store;

  const list = async (caller: Caller, { state, after, limit }: PageQuery, flowId?: string): Promise<EventPage> => {
    const query = { limit, ...(state === undefined ? {} : { state }), ...(after === undefined ? {} : { after }) };
    if (flowId === undefined && !owners.isForAll(caller, 'view')) return ownEvents(caller, limit, query);
    const rows = await readCharged(deps.takePage, caller.name, limit, () =>
      inbox.list({ ...query, bodies: false, ...(flowId === undefined ? {} : { flowId }) }),
    );
    return { events: rows.map(withoutBody), next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
  };

  /** Those of the caller are looked for among those of every name, some thousands at a time: each time is a page. */
  const ownEvents = async (caller: Caller, limit: number, { after, state }: Pick<PageQuery, 'after' | 'state'>) => {
    const { found, next } = await gatherPages(limit, after ?? null, async (most, from) => {
      deps.takePage(caller.name);
      const query = { limit: Math.min(most, ROWS_OF_A_PAGE), ...(from === null ? {} : { after: from }) };
      const { rows, next } = await inbox.listOfName(caller.name, {
        ...query,
        ...(state === undefined ? {} : { state }),
      });
      return { found: await owners.theirs(caller, 'view', rows), next };
    });
    return { events: found.map(withoutBody), next };
  };
  const lists = {
    method: 'GET',
    tag: 'events',
    permission: 'view',
    query: EventPageQuery,
    answers: { 200: { says: 'Events, without their bodies.', schema: { EventList: EventPage } } },
  } as const;

  addRoute(server, {
    ...lists,
    params: FlowParams,
    path: '/flows/:kind/:reference/events',
    operationId: 'listEventsOfFlow',
    summary: 'Lists the events of a flow, newest first.',
    handler: ({ caller, params, query }) => list(caller, query, addressOf(params).flowId),
  });
  addRoute(server, {
    ...lists,
    path: '/events',
    operationId: 'listEvents',
    summary: 'Lists events, newest first.',
    handler: ({ caller, query }) => list(caller, query),
  });
  addRoute(server, {
    method: 'GET',
    params: EventParams,
    path: '/events/:id',
    operationId: 'showEvent',
    tag: 'events',
    summary: 'Shows an event with its body, which may hold personal data.',
    permission: 'read-event',
    answers: { 200: { says: 'The event.', schema: { Event: ShownEvent } } },
    handler: async ({ params, caller }) => {
      const row = await eventOf(inbox, params.id);
      await deps.readings.record(caller, { kind: 'read-event', flowId: row.flowId ?? undefined, subject: row.id });
      const proposal = row.flowId === null ? null : await proposedOrder(deps, row.flowId, toTrust(row));
      return { ...eventJson(row, { withBody: true }), proposal };
    },
  });
}

const withoutBody = (row: InboxRow): ShownEvent => eventJson(row, { withBody: false });

/** An inbox row as JSON. The body may hold names and phone numbers: only a role that may resolve sees it. */
export function eventJson(row: InboxRow, options: { readonly withBody: boolean }): ShownEvent {
  const { contentHash: _hash, body, ...shown } = row;
  return options.withBody ? { ...shown, body: body ?? null } : shown;
}

/** @throws Refusal 404 */
export async function eventOf(inbox: Pick<Store['inbox'], 'get'>, id: string): Promise<InboxRow> {
  const row = await inbox.get(id);
  if (row === undefined) throw new Refusal(404, 'There is no such event.');
  return row;
}

/** The topic and subject of a proposal to vouch for it. */
export const toTrust = ({ id }: Pick<InboxRow, 'id'>) => ({ topic: id, subject: id });
