import type { FastifyInstance } from 'fastify';
import { EventParams, Replay, ReplayBody, ShownEvent, WithdrawBody } from '../../api/events.js';
import { eventOfRow, otherReference } from '../../flows/event-of-row.js';
import { flowOf } from '../../flows/index.js';
import { TRUST_EVENT } from '../../protocol/four-eyes.js';
import type { InboxRow } from '../../protocol/events.js';
import type { FlowEvent } from '../../protocol/messages.js';
import { type FlowState, parseFlowId } from '../../protocol/vocabulary.js';
import type { Proposal } from '../../store/proposal.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { recordingRefusals } from '../flows/give-order.js';
import { secondPerson, withdrawProposal } from '../flows/second-person.js';
import { whoIs } from '../http/bearer-token.js';
import { mayOrder } from '../http/may-order.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { eventJson, eventOf, type EventRoutesDeps, toTrust } from './events.js';

const SECOND = 'Once a second person orders the same:';

/** The orders to deliver an event again, and to vouch for it. */
export function addReplayRoutes(server: FastifyInstance, deps: EventRoutesDeps): void {
  const { inbox } = deps.store;

  addRoute(server, {
    method: 'POST',
    params: EventParams,
    path: '/events/:id/replay',
    operationId: 'replayEvent',
    tag: 'events',
    summary: 'Delivers an event again; `trust` vouches for it; `dryRun` only says what would happen.',
    permission: 'replay-event',
    body: { schema: { ReplayBody }, required: false, example: { dryRun: true } },
    answers: {
      200: { says: 'What happened, or would.', schema: { Replay } },
      202: { says: 'To vouch for it waits for a second person, who orders the same.', schema: { Replay } },
    },
    handler: async ({ reply, params, caller, body: { trust, dryRun, flowId: given, note = '' } }) => {
      const row = await eventOf(inbox, params.id);
      if (row.body === undefined) throw noBody(row);
      const flowId = flowOfEvent(row, given);
      // A proven event without a flow proves whatever a person says that it is about.
      const vouches = trust || (row.flowId === null && row.proof !== null);
      const preview = await previewReplay(deps.reader, row, flowId, vouches);
      if (dryRun) return { dryRun: true, ...preview };
      const about = { flowId, subject: row.id, ...whoIs(caller) };
      let confirmed: Proposal | undefined;
      const order = { action: TRUST_EVENT, fourEyes: deps.settings.fourEyes };
      const question = { caller, permission: 'replay-event', order } as const;
      if (vouches && mayOrder(question) !== 'yes') {
        const choice: Record<string, string> = trust ? { trust: 'true' } : {};
        const asked = { flowId, ...toTrust(row), action: TRUST_EVENT, choice, note };
        const proposal = await recordingRefusals(deps, { ...about, action: TRUST_EVENT }, note, () =>
          secondPerson(deps, question, asked),
        );
        if (proposal === undefined) {
          void reply.code(202);
          return { dryRun: false, ...preview, would: `${SECOND} ${preview.would}` };
        }
        confirmed = proposal;
      }
      const action = vouches ? TRUST_EVENT : 'replay';
      await deps.store.audit.append({ ...about, kind: 'replay-event', action, details: { note, trust } });
      const replayed = await inbox.replay(row.id, { proof: vouches ? 'person' : undefined, flowId });
      if (replayed === undefined) throw new Refusal(404, 'There is no such event.');
      if (confirmed !== undefined) await deps.store.proposals.end(confirmed, true);
      deps.logger.info({ flowId, event: row.id, trust, actor: caller.name }, 'a person replays an event');
      deps.dispatcher.nudge();
      return { dryRun: false, ...preview, event: eventJson(replayed, { withBody: false }) };
    },
  });

  addRoute(server, {
    method: 'POST',
    params: EventParams,
    path: '/events/:id/withdraw',
    operationId: 'withdrawReplay',
    tag: 'events',
    summary: 'Takes back an order to vouch for an event, which waits for a second person.',
    permission: 'replay-event',
    body: { schema: { WithdrawBody }, required: false, example: { note: 'the provider denies it' } },
    answers: { 200: { says: 'The event, without its body.', schema: { Event: ShownEvent } } },
    refusals: { 409: 'None waits, or it is being carried out.' },
    handler: async ({ params, caller, body: { note, flowId: given } }) => {
      const row = await eventOf(inbox, params.id);
      const flowId = flowOfEvent(row, given);
      await withdrawProposal(deps, caller, { flowId, ...toTrust(row) }, note);
      deps.logger.info({ flowId, event: row.id, actor: caller.name }, 'a proposed order was withdrawn');
      return { ...eventJson(row, { withBody: false }), proposal: null };
    },
  });
}

/** Why an event cannot be delivered again, and what to do. */
function noBody({ unreadable, isBroken }: Pick<InboxRow, 'unreadable' | 'isBroken'>): Refusal {
  if (unreadable === undefined) {
    const why = 'The body of this event was purged: it cannot be delivered again.';
    return new Refusal(409, why, { code: 'event_purged' });
  }
  const remedy = isBroken
    ? 'Its row is damaged, and no key opens it: have it sent again, or decide by a status lookup.'
    : 'Give this gateway that key in PAYLOAD_KEYS, then replay the event.';
  const why = `This event cannot be opened (${unreadable}). ${remedy}`;
  return new Refusal(409, why, { code: isBroken ? 'event_damaged' : 'event_unreadable' });
}

/**
 * The flow to which an event is delivered again. If it could not be matched, a person names it (`given`); if its body
 * names a reference, that must be the flow's.
 *
 * @throws Refusal 409
 */
function flowOfEvent(row: Pick<InboxRow, 'flowId' | 'body'>, given: string | undefined): string {
  if (row.flowId !== null) {
    if (given === undefined || given === row.flowId) return row.flowId;
    const why = `The event is of ${row.flowId}: it is not delivered to another flow.`;
    throw new Refusal(409, why, { code: 'event_of_other_flow' });
  }
  if (given === undefined) {
    const why = 'The event names no flow: give its flow as flowId, "{kind}/{reference}".';
    throw new Refusal(409, why, { code: 'event_of_no_flow' });
  }
  const flow = parseFlowId(given);
  if (flow !== undefined && otherReference(flowOf(flow.kind).readEvent(row.body), flow.reference) !== undefined) {
    const why = 'The body of this event names another reference than that flow has.';
    throw new Refusal(409, why, { code: 'event_of_other_flow' });
  }
  return given;
}

/** The effect of a replay, in words and as the flow would see the event. */
interface ReplayPreview {
  readonly would: string;
  readonly flowState: FlowState | null;
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
  return { would: sentence(event, facts), flowState: facts?.state ?? null, asEvent: event ?? null };
}

function sentence(event: ReturnType<typeof eventOfRow>, facts: Awaited<ReturnType<FlowReader['facts']>>): string {
  if (event === undefined) return 'Be listed as unmatched: this version has no flow of that kind.';
  if (facts === undefined) return 'Be listed as unmatched again: its flow does not exist.';
  if (!facts.isOpen) return `Be listed as late: the flow has ended as ${facts.state}.`;
  const differs = event.facts['reference'] === undefined ? '' : ' Its body names another reference than its path: the flow asks a person.'; // prettier-ignore
  return `Be delivered as ${event.trusted ? 'trusted' : 'unverified'}.${event.trusted ? differs : ''}`;
}
