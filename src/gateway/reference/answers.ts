import { z } from 'zod';
import { FLOW_KINDS, FLOW_STATES } from '../../protocol/vocabulary.js';
import { INBOX_STATES } from '../ops/events.js';

/*
 * What the gateway answers, for its API reference. Words that a later version may add to (reasons, actions, stages) are
 * text here: an enumeration would make generated clients refuse them.
 */

const at = () => z.iso.datetime();
const kind = z.enum(FLOW_KINDS);
const state = z.enum(FLOW_STATES);

export const Flow = z.object({
  kind,
  reference: z.string(),
  flowId: z.string().meta({ description: '`{kind}/{reference}`, which is also the workflow id.' }),
  state,
  stage: z.string(),
  serviceReference: z.string().nullable(),
  startedAt: at(),
  updatedAt: at(),
  deadlineAt: at().nullable(),
  parked: z
    .object({
      reason: z.string(),
      since: at(),
      actions: z.array(z.string()).meta({ description: 'What `resolve` takes now.' }),
      evidence: z.looseObject({}),
    })
    .nullable(),
  outcome: z.object({ state, reason: z.string().nullable(), detail: z.string() }).nullable(),
  timeline: z.array(z.object({ at: at(), stage: z.string(), by: z.string(), detail: z.string() })),
});

export const FlowList = z.object({
  flows: z.array(
    z.object({
      kind,
      reference: z.string(),
      flowId: z.string(),
      state,
      startedAt: at(),
      closedAt: at().nullable(),
      amount: z.string().nullable().meta({ description: 'Null of flows that another Temporal client started.' }),
      currency: z.string().nullable(),
      reason: z.string().nullable().meta({ description: 'Why it is parked; null if no worker answered in time.' }),
      since: at().nullable().meta({ description: 'Since when it is parked.' }),
    }),
  ),
  next: z.string().nullable().meta({ description: '`after` of the next page; null at the end.' }),
});

export const FlowAnswers = z.object({
  flowId: z.string(),
  answers: z.array(
    z.object({
      operation: z.string(),
      data: z.unknown().optional().meta({ description: "The service's own answer; absent where it refused." }),
      rejected: z.looseObject({ httpStatus: z.int(), message: z.string() }).optional(),
    }),
  ),
});

export const Event = z.looseObject({
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
});

export const EventList = z.object({
  events: z.array(Event),
  next: z.string().nullable().meta({ description: '`after` of the next page.' }),
});

export const Replay = z.looseObject({
  dryRun: z.boolean(),
  would: z.string(),
  flowState: z.string().nullable(),
  event: Event.optional(),
});

const Notification = z.object({
  id: z.string(),
  timestamp: at(),
  flowState: state,
  stage: z.string(),
  skipped: z.int().meta({ description: 'Older changes that this one stands for, too.' }),
});

export const Callbacks = z.object({
  kind,
  reference: z.string(),
  flowId: z.string(),
  state: z.string(),
  to: z.string().nullable().meta({ description: 'The origin of the URL; its path may hold a capability.' }),
  current: Notification.nullable(),
  since: at().nullable(),
  attempts: z.int(),
  lastFailure: z.looseObject({ problem: z.string(), httpStatus: z.int().nullable(), at: at() }).nullable(),
  nextAttemptAt: at().nullable(),
  delivered: Notification.extend({ at: at(), httpStatus: z.int(), attempts: z.int() }).nullable(),
});

export const CallbackList = z.object({
  callbacks: z.array(z.object({ kind: kind.nullable(), reference: z.string(), flowId: z.string(), startedAt: at() })),
});

export const CardToken = z.object({ cardToken: z.string(), masked: z.string(), expiresAt: at() });

export const Received = z.object({ success: z.literal(true), message: z.string(), data: z.object({}) });

export const Refused = z
  .object({
    success: z.literal(false),
    message: z.string().meta({ description: 'A sentence that says what to do.' }),
    data: z.looseObject({
      reference: z.string().optional(),
      errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({ description: 'The one error body. It names members at fault, never their values.' });

export const ServiceRefused = z
  .object({
    success: z.literal(false),
    message: z.string(),
    error_code: z.string().optional(),
    data: z.looseObject({ errors: z.array(z.unknown()).optional() }),
    towline: z
      .looseObject({
        by: z.enum(['gateway', 'service']),
        reference: z.string().optional(),
        code: z.string().optional().meta({ description: 'One word for why its flow ended so.' }),
      })
      .meta({ description: 'Who refused it, and what the gateway knows of its flow.' }),
  })
  .meta({ description: "The service's own error body if it refused; the gateway's refusals have the same envelope." });

export const UnderWay = z
  .object({ success: z.literal(true), message: z.string(), data: z.looseObject({}) })
  .meta({ description: "The service's answer is not known yet; `Location` is the address of the flow." });

export const Health = z.object({ status: z.string() });
export const Readiness = z.object({ status: z.string(), store: z.string(), temporal: z.string() });
