import { z } from 'zod';
import { INBOX_STATES, type InboxState, type Proof } from '../protocol/events.js';
import { parseFlowId, type FlowState } from '../protocol/vocabulary.js';
import { isReference, proposal } from './flow.js';
import { at, type Json, limit, word } from './json.js';
import { note } from './orders.js';

const EVENT_ID = /^[A-Za-z0-9_.-]{1,80}$/;
/** Parameters of a path that names an event. */
export const EventParams = z.object({ id: z.string().regex(EVENT_ID) });

export type EventState = InboxState;

/** An event as the gateway shows it; the body only to whom it may be shown. */
export type ShownEvent = Json<z.infer<typeof ShownEvent>>;
export const ShownEvent = z.looseObject({
  id: z.string(),
  source: z.enum(['callback', 'settlement', 'webhook']),
  flowId: z.string().nullable(),
  reference: z.string().nullable(),
  /** The raw status word of the body. */
  status: z.string().nullable(),
  proof: word<Proof>().nullable().meta({ description: 'Why it is trusted; null while it is not.' }),
  state: z.enum(INBOX_STATES),
  /** Why it is in this state, in words for a person. */
  detail: z.string().nullable(),
  receivedAt: at(),
  deliveredAt: at().nullable(),
  settledAt: at().nullable(),
  repeats: z.int().meta({ description: 'How often the same content came again.' }),
  body: z.unknown().optional().meta({ description: 'Only if one event is shown; null once it was purged.' }),
  unreadable: z.string().exactOptional().meta({ description: 'Why its body and detail cannot be decrypted.' }),
  isBroken: z.literal(true).exactOptional().meta({ description: 'The content is damaged: no key can decrypt it.' }),
  /** Only for a single event: the order to vouch for it. */
  proposal: proposal.exactOptional(),
});

export const EventPageQuery = z.strictObject({
  state: z.enum(INBOX_STATES).optional(),
  after: z.string().regex(EVENT_ID, 'is not an event id').optional(),
  limit: limit(50),
});

export type EventPage = Json<z.infer<typeof EventPage>>;
export const EventPage = z.object({
  /** Newest first. */
  events: z.array(ShownEvent),
  next: z.string().nullable().meta({ description: '`after` of the next page.' }),
});

export const ReplayBody = z.strictObject({
  trust: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  note: note().optional().meta({ description: 'The reason; kept in the audit log.' }),
  flowId: z
    .string()
    .refine((text) => isReference(parseFlowId(text)?.reference), 'is not a flow id: {kind}/{reference}')
    .meta({ description: 'The flow of an event that names none.' })
    .optional(),
});
export const WithdrawBody = ReplayBody.pick({ note: true, flowId: true });

export type Replay = Json<z.infer<typeof Replay>>;
export const Replay = z.looseObject({
  dryRun: z.boolean(),
  /** Its effect, as a sentence. */
  would: z.string(),
  flowState: word<FlowState>().nullable(),
  /** As it was delivered again. */
  event: ShownEvent.exactOptional(),
});
