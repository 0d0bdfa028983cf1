import { z } from 'zod';
import type { CallbackState } from '../protocol/callbacks.js';
import { FLOW_KINDS, FLOW_STATES } from '../protocol/vocabulary.js';
import { at, type Json, limit, word } from './json.js';

const kind = z.enum(FLOW_KINDS);

/** What signs the callbacks about the flows of a name. */
export type CallbackSecretsJson = Json<z.infer<typeof CallbackSecretsJson>>;
export const CallbackSecretsJson = z.object({
  name: z.string(),
  /** `whsec_…`; the first signs. */
  secrets: z.array(z.string()).meta({ description: 'Take a callback that any of them signed.' }),
});

/** One callback: a change of the flow. */
export type CallbackJson = Json<z.infer<typeof CallbackJson>>;
const CallbackJson = z.object({
  id: z.string(),
  timestamp: at(),
  flowState: z.enum(FLOW_STATES),
  stage: z.string(),
  skipped: z.int().meta({ description: 'Older changes that this one stands for, too.' }),
});

export type DeliveredJson = Json<z.infer<typeof DeliveredJson>>;
const DeliveredJson = z.object({ at: at(), httpStatus: z.int(), attempts: z.int() });

const Circuit = z.object({ origin: z.string(), since: at() });

/** The state of one flow's callbacks. Only the origin of the URL is shown: its path may hold a capability. */
export type CallbacksJson = Json<z.infer<typeof CallbacksJson>>;
export const CallbacksJson = z.object({
  kind,
  reference: z.string(),
  flowId: z.string(),
  /** `none`: there was never a callback to send. `unknown`: no worker answers. */
  state: word<CallbackState | 'none' | 'unknown'>(),
  to: z.string().nullable().meta({ description: 'The origin of the URL; its path may hold a capability.' }),
  /** The callback that is being sent, or could not be delivered. */
  current: CallbackJson.nullable(),
  since: at().nullable(),
  attempts: z.int(),
  lastFailure: z
    .looseObject({ problem: z.string(), httpStatus: z.int().nullable(), at: at(), circuit: Circuit.nullable() })
    .nullable(),
  nextAttemptAt: at().nullable(),
  delivered: CallbackJson.extend(DeliveredJson.shape).nullable(),
});

export const CallbackListQuery = z.strictObject({
  state: z.enum(['undelivered', 'open']).default('undelivered'),
  limit: limit(50),
});

/** A flow whose callbacks are listed. */
export type ListedCallbacksJson = Json<z.infer<typeof ListedCallbacksJson>>;
const ListedCallbacksJson = z.object({
  kind: kind.nullable(),
  reference: z.string(),
  flowId: z.string(),
  startedAt: at(),
});

export type CallbackListJson = Json<z.infer<typeof CallbackListJson>>;
export const CallbackListJson = z.object({
  callbacks: z.array(ListedCallbacksJson),
  openCircuits: z.array(Circuit.extend({ flows: z.int() })).meta({
    description:
      'Origins that do not answer and are tried by one callback at a time: of the 200 newest deliveries that go on.',
  }),
});
