import { CAUSE_CODES, type CauseCode } from './causes.js';
import { END_REASONS, type EndReason } from './vocabulary.js';

/** Why the gateway refused a request, if its status does not say it. The sentence beside it is for a person. */
const GATEWAY_REFUSALS = [
  'no_token',
  'unknown_token',
  'refused_token',
  'no_role',
  'no_permission',
  'signature_invalid',
  'unknown_kind',
  'above_largest_amount',
  'started_by_caller',
  'other_proposal',
  'proposal_ended',
  'proposal_unreadable',
  'flow_terminated',
  'flow_not_ended',
  'foreign_flow',
  'no_worker',
  'too_many_questions',
  'service_cannot_tell',
  'event_unreadable',
  'event_damaged',
  'event_purged',
  'event_of_other_flow',
  'event_of_no_flow',
  'erased',
  'service_unreachable',
  'service_rate_limited',
  'service_token_refused',
  'outcome_unknown',
  'no_usable_answer',
  'audit_unavailable',
  'temporal_unavailable',
  'issuer_unavailable',
] as const;

/** `code` of a refusal: also why a flow refused an order, or why it ended. */
export type RefusalCode = (typeof GATEWAY_REFUSALS)[number] | CauseCode | EndReason;
export const REFUSAL_CODES: readonly RefusalCode[] = [
  ...new Set([...GATEWAY_REFUSALS, ...CAUSE_CODES, ...END_REASONS]),
];

/** The reason of a flow's end, or the type of an update's failure, as a code; undefined if it is none of ours. */
export function refusalCodeOf(text: string | null | undefined): RefusalCode | undefined {
  return REFUSAL_CODES.find((code) => code === text);
}
