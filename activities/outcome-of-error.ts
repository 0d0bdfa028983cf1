import type { PostSays } from '../src/protocol/attempt.js';
import type { LookupSays } from '../src/protocol/decisions.js';
import type { Rejection } from '../src/protocol/messages.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RejectedError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../src/service-client/index.js';
import type { ClaimKey } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';

/** What an error of a POST says about it, in a word. */
export function postSays(deps: ActivityDeps, key: ClaimKey, error: unknown, isQuoteOver: () => boolean): PostSays {
  if (error instanceof NotSentError) return error.reason === 'expired' && isQuoteOver() ? 'too-late' : 'not-sent';
  if (error instanceof TurnedAwayError) return 'turned-away';
  if (error instanceof InvalidRequestError) return 'unsendable';
  if (error instanceof DuplicateReferenceError) return 'duplicate';
  if (error instanceof RejectedError) {
    if (error.isAboutReference) return 'refused-reference';
    return error.isRateExpired ? 'rate-expired' : 'refused';
  }
  // Everything else, our own bugs included: a POST may have been sent. Unknown is not failed.
  const reason = error instanceof UnknownOutcomeError ? whyLost(error) : 'unexpected';
  deps.log.warn({ operation: key.operation, reference: key.reference, reason }, 'the outcome of a POST is unknown');
  return 'unknown';
}

/** Shown to a person, with the text of the answer, which may not be the service's own. */
function whyLost({ reason, httpStatus, text }: UnknownOutcomeError): string {
  const status = httpStatus === undefined ? '' : `, HTTP ${httpStatus}`;
  return `${reason}${status}${text === undefined ? '' : `: ${text}`}`;
}

/** Only its three members: the error has more. */
export function rejectionOf(error: unknown): Rejection {
  if (!(error instanceof RejectedError)) throw new TypeError('no refusal');
  const { httpStatus, message, code } = error;
  return { httpStatus, message, ...(code === undefined ? {} : { code }) };
}

/** Why the outcome is unknown, by what came of the POST, and of the lookup after it. */
export function whyUnknown(error: unknown, looked: LookupSays): string {
  if (error instanceof RejectedError) {
    const why = error.isAboutReference ? 'for its reference' : WHY_NOT_REJECTED[looked];
    return `refused ${why} (${error.httpStatus}: ${error.message})`;
  }
  return error instanceof UnknownOutcomeError ? whyLost(error) : 'unexpected';
}

const WHY_NOT_REJECTED: Readonly<Record<LookupSays, string>> = {
  shown: 'although the service shows it',
  other: 'although the service shows something under its reference',
  absent: 'and not shown',
  'cannot-tell': 'while it cannot be looked up',
  'proves-nothing': 'and its record proves nothing',
  'no-lookup': 'for its rate, which an earlier copy of it may have used up',
};

export const EVENT_CAME = 'an event came before it was sent again';
