import { z } from 'zod';
import { MAX_CALLER_REFERENCE_LENGTH, REFERENCE_PATTERN } from '../contract/sending.js';
import type { EventResult, Rejection } from '../protocol/messages.js';
import {
  FLOW_KINDS,
  FLOW_STATES,
  PARK_REASONS,
  type ParkAction,
  type ParkReason,
  type TimelineCode,
} from '../protocol/vocabulary.js';
import { at, type Json, limit, word } from './json.js';

const kind = z.enum(FLOW_KINDS);
const state = z.enum(FLOW_STATES);

export function isReference(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_CALLER_REFERENCE_LENGTH && REFERENCE_PATTERN.test(text);
}

/** Parameters of a path that names a flow. */
export const FlowParams = z.object({
  kind,
  // Without the look-ahead of the grammar, which not every generator of clients supports.
  reference: z
    .string()
    .refine(isReference)
    .meta({ pattern: `^[A-Za-z0-9][A-Za-z0-9._:-]{0,${MAX_CALLER_REFERENCE_LENGTH - 1}}$` }),
});

/** An amount of money or of a token; `amount` is a decimal string, null if the request does not fix it. */
export type TermsAmount = Json<z.infer<typeof TermsAmount>>;
const TermsAmount = z.object({ amount: z.string().nullable(), currency: z.string() });

/** A quote, as a person reads it before it is approved. */
export type QuoteTerms = Json<z.infer<typeof QuoteTerms>>;
const QuoteTerms = z.object({
  id: z.string(),
  /** Null if the caller brought a quote whose figures are not known. */
  gives: TermsAmount.nullable(),
  /** Of the two amounts: `130.5 KES per USDC`. */
  rate: z.string().nullable(),
  /** What the service says it costs. */
  fee: z.string().nullable(),
  expiresAt: at(),
});

/** What a flow moves, for the person who decides about it. Parties are masked: this is no personal data. */
export type FlowTerms = Json<z.infer<typeof FlowTerms>>;
const FlowTerms = z.object({
  sends: TermsAmount,
  /** Null: the same. */
  receives: TermsAmount.nullable(),
  payer: z.string().nullable().meta({ description: 'The last characters of a number or an address.' }),
  recipient: z.string().nullable(),
  /** The chain. */
  network: z.string().nullable(),
  quote: QuoteTerms.nullable(),
});

export type Parked = Json<z.infer<typeof Parked>>;
const Parked = z.object({
  reason: word<ParkReason>(),
  since: at(),
  actions: z.array(word<ParkAction>()).meta({ description: 'What `resolve` takes now.' }),
  evidence: z.looseObject({}),
});

/** How a flow ended. */
export type Outcome = Json<z.infer<typeof Outcome>>;
const Outcome = z.object({
  state,
  /** An `EndReason`, or null if it simply completed or was refunded. */
  reason: z.string().nullable(),
  /** A sentence for a person. */
  detail: z.string(),
});

export type TimelineEntry = Json<z.infer<typeof TimelineEntry>>;
const TimelineEntry = z.object({
  at: at(),
  stage: z.string(),
  /** `flow`, `service`, `provider`, or a person's token name. */
  by: z.string(),
  code: word<TimelineCode>().meta({ description: 'What happened, for programs.' }),
  /** A later version may word it otherwise. */
  detail: z.string().meta({ description: 'The same, as a sentence for a person.' }),
});

/** An order that one person gave, and another one has to confirm. */
export type ProposedOrder = Json<z.infer<typeof ProposedOrder>>;
const ProposedOrder = z.object({
  id: z.string(),
  action: z.string(),
  eventId: z.string().exactOptional(),
  until: z.string().exactOptional(),
  by: z.string(),
  note: z.string(),
  at: at(),
  expiresAt: at(),
  confirmedBy: z.string().nullable().meta({ description: 'Set while it is carried out.' }),
  confirm: z.string().meta({ description: 'The command with which another person confirms it.' }),
  withdraw: z.string(),
});
export const proposal = ProposedOrder.nullable().meta({ description: 'An order that waits for a second person.' });

export type ContradictionJson = Json<z.infer<typeof ContradictionJson>>;
const ContradictionJson = z.object({
  /** `late_event_contradicts` or `late_answer_contradicts`. */
  kind: z.string(),
  at: at(),
  /** How the flow had ended. */
  ended: z.string().nullable(),
  eventId: z.string().nullable(),
  /** Of the event. */
  status: z.string().nullable(),
  proof: z.string().nullable(),
  /** Of the answer. */
  operation: z.string().nullable(),
});

/** The state of a contradicted flow is what it was told; where the money is, its evidence says. */
export type ContradictedJson = Json<z.infer<typeof ContradictedJson>>;
const ContradictedJson = z.object({
  since: at(),
  /** Oldest first. */
  evidence: z.array(ContradictionJson),
  /** Null while it waits for a person. */
  acknowledged: z.object({ at: at(), by: z.string() }).nullable(),
});

/** A flow, as the gateway shows it: its own report, its start, and the proposal that waits for a second person. */
export type Flow = Json<z.infer<typeof Flow>>;
export const Flow = z.object({
  kind,
  reference: z.string(),
  flowId: z.string().meta({ description: '`{kind}/{reference}`, which is also the workflow id.' }),
  state,
  stage: z.string(),
  /** Decimal string; null also of kinds that move no money. */
  amount: z.string().nullable().meta({ description: 'Null for flows that another Temporal client started.' }),
  currency: z.string().nullable(),
  serviceReference: z.string().nullable(),
  startedAt: at(),
  updatedAt: at(),
  deadlineAt: at().nullable(),
  /** Null of kinds that move no money, and until the input is checked. */
  terms: FlowTerms.nullable().meta({ description: 'What it moves, for the person who decides about it.' }),
  parked: Parked.nullable(),
  outcome: Outcome.nullable(),
  timeline: z.array(TimelineEntry),
  proposal,
  contradicted: ContradictedJson.nullable().meta({
    description: 'What came after the flow, and says otherwise: its state is then not where the money is.',
  }),
});

export type FlowMoney = Pick<Flow, 'amount' | 'currency'>;
/** Without what was decided about it, and what came after it. */
export type FlowWithMoney = Omit<Flow, 'proposal' | 'contradicted'>;
/** As the flow itself knows it: the answer to the query `flow`. */
export type FlowView = Omit<FlowWithMoney, keyof FlowMoney>;

/** The answer to the query `flow` and the content of a flow's result: the view, and the results of its events. */
export interface FlowReport {
  readonly view: FlowView;
  readonly events: Readonly<Record<string, EventResult>>;
}

/** A flow in a list: what the server knows without asking a worker. */
export type ListedFlow = Json<z.infer<typeof ListedFlow>>;
const ListedFlow = z.object({
  kind,
  reference: z.string(),
  flowId: z.string(),
  state,
  startedAt: at(),
  closedAt: at().nullable(),
  amount: z.string().nullable().meta({ description: 'Null for flows that another Temporal client started.' }),
  currency: z.string().nullable(),
  reason: word<ParkReason>().nullable().meta({ description: 'Why it is parked.' }),
  /** Null if its worker did not answer in time, and of every state but `parked`. */
  since: at().nullable().meta({ description: 'Since when it is parked.' }),
  proposed: ProposedOrder.pick({ action: true, by: true, expiresAt: true })
    .nullable()
    .meta({ description: 'The order that waits for a second person.' }),
  contradicted: z.boolean().meta({ description: 'What came after it says otherwise: see the flow.' }),
});

export const FlowPageQuery = z
  .strictObject({
    kind: kind.optional(),
    state: state.optional(),
    reason: z.enum(PARK_REASONS).optional().meta({ description: 'Why it is parked.' }),
    reference: z.string().refine(isReference, 'is not a reference').optional(),
    limit: limit(50),
    after: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,4000}$/, 'is not the "next" of a page')
      .optional()
      .meta({ description: '`next` of the page before.' }),
  })
  .refine(({ reason, state = 'parked' }) => reason === undefined || state === 'parked', {
    path: ['reason'],
    message: 'is of parked flows alone',
  });

export type FlowPage = Json<z.infer<typeof FlowPage>>;
export const FlowPage = z.object({
  /** Newest first. */
  flows: z.array(ListedFlow),
  next: z.string().nullable().meta({ description: '`after` of the next page; null at the end.' }),
});

export type ContradictionList = Json<z.infer<typeof ContradictionList>>;
export const ContradictionList = z.object({
  /** The latest first. */
  flows: z.array(z.object({ flowId: z.string(), contradicted: ContradictedJson })),
  next: z.string().nullable().meta({ description: '`after` of the next page.' }),
});

/** What waits for a second person. */
export type ProposalList = Json<z.infer<typeof ProposalList>>;
export const ProposalList = z.object({
  /** The oldest first. One whose flow has moved on since is void: the flow shows none then. */
  proposals: z.array(
    z.object({
      flowId: z.string(),
      ...ProposedOrder.pick({ action: true, by: true, at: true, expiresAt: true }).shape,
    }),
  ),
  next: z.string().nullable().meta({ description: '`after` of the next page.' }),
});

/**
 * The service's answer to one request of a flow: its `data`, or its refusal; or only that it was erased. A union for
 * TypeScript, and flat in the document: generators of clients make no useful type of a union.
 */
export type ServiceAnswer =
  | { readonly operation: string; readonly data: unknown }
  | { readonly operation: string; readonly rejected: Rejection }
  | { readonly operation: string; readonly erased: 'answer' | 'refusal' };
const ServiceAnswer = z.object({
  operation: z.string(),
  data: z.unknown().optional().meta({ description: "The service's own answer; absent if it refused." }),
  rejected: z.looseObject({ httpStatus: z.int(), message: z.string() }).optional(),
  erased: z.string().optional().meta({ description: 'What was erased: `answer`, or `refusal`.' }),
});

export interface ServiceAnswers {
  readonly flowId: string;
  /** Oldest first. */
  readonly answers: readonly ServiceAnswer[];
}
export const ServiceAnswers = z.object({ flowId: z.string(), answers: z.array(ServiceAnswer) });
