import type { OperationName } from '../../contract/index.js';
import {
  InvalidRequestError,
  NotSentError,
  type RelayedAnswer,
  type ServiceClient,
  ServiceUnavailableError,
  TurnedAwayError,
  UnknownOutcomeError,
} from '../../service-client/index.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';

/**
 * One call of the service, whose answer is returned unchanged, whatever it says. @throws Refusal if there is none to
 * pass on
 */
export async function relay(
  { service }: { readonly service: { readonly client: Pick<ServiceClient, 'relay'> } },
  operation: OperationName,
  argument: unknown,
): Promise<RelayedAnswer> {
  try {
    return await service.client.relay(operation, argument);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Why there is no answer of the service to pass on. Any other error is rethrown. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof InvalidRequestError) {
    const errors = error.problems.map(({ path, problem }) => ({ path, message: problem }));
    return new Refusal(400, 'The request is not what the interface says; nothing was sent.', {
      code: 'invalid_input',
      errors,
    });
  }
  if (error instanceof TurnedAwayError || (error instanceof NotSentError && error.reason === 'token')) {
    const why = 'The service does not accept the token of this gateway: correct SERVICE_TOKEN.';
    return new Refusal(502, why, { code: 'service_token_refused' });
  }
  if (error instanceof NotSentError) {
    const why = `The service cannot be reached (${error.reason}). Try again.`;
    return new Refusal(503, why, { code: 'service_unreachable' }, RETRY_AFTER_SECONDS);
  }
  if (error instanceof UnknownOutcomeError) {
    const cause = `there is no answer to pass on: ${error.reason}`;
    const why = `Whether the service did it is unknown (${cause}). Check before you repeat it.`;
    return new Refusal(502, why, { code: 'outcome_unknown' });
  }
  if (error instanceof ServiceUnavailableError) {
    const why = `The service gave no usable answer (${error.reason}). Try again.`;
    return new Refusal(502, why, { code: 'no_usable_answer' }, RETRY_AFTER_SECONDS);
  }
  throw error;
}
