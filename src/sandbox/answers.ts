import type { Clock } from './clock.js';
import { withNumbersAsText } from './deliveries/deliveries.js';
import type { Answer } from './ledger.js';
import { Refusal } from './refusal.js';
import { type ErrorBodyForm, type LiveSettings } from './settings.js';

/** The bodies of answers, in the form that the settings choose. */
export interface Answers {
  bodyOf(outcome: Answer | Refusal): object;
}

export function createAnswers(deps: { settings: LiveSettings; clock: Clock }): Answers {
  const { settings, clock } = deps;
  return {
    bodyOf(outcome) {
      const { errorBody, numbersAsStrings } = settings.current();
      if (outcome instanceof Refusal) return ERROR_FORMS[errorBody](outcome, clock);
      const { message, data } = outcome;
      return { success: true, message, data: numbersAsStrings ? withNumbersAsText(data) : data };
    },
  };
}

const ERROR_NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  429: 'Too Many Requests',
};

/** "Shape of an error response body: not shown": four are seen (`docs/assumptions.md`), and they contradict one another. */
const ERROR_FORMS: Readonly<Record<ErrorBodyForm, (refusal: Refusal, clock: Clock) => object>> = {
  mixed: (refusal) => refusal.body(),
  A: (refusal) => ({
    success: false,
    message: refusal.message,
    error_code: refusal.status,
    ...refusal.details.members,
    data: { errors: refusal.details.errors ?? [], ...refusal.details.data },
  }),
  B: (refusal) => ({
    success: false,
    message: refusal.message,
    ...refusal.details.members,
    data: { errors: refusal.details.errors ?? [], ...refusal.details.data },
  }),
  C: (refusal, clock) => ({
    status: 'error',
    message: sentenceOf(refusal),
    error_code: refusal.code,
    timestamp: clock.iso(),
    ...refusal.details.members,
    ...(refusal.details.data === undefined ? {} : { data: refusal.details.data }),
  }),
  D: (refusal) => ({
    statusCode: refusal.status,
    message: sentenceOf(refusal),
    error: ERROR_NAMES[refusal.status] ?? 'Internal Server Error',
    ...refusal.details.members,
    data: refusal.details.data ?? {},
  }),
};

/** If the body has no list of members at fault, the sentence names them. */
function sentenceOf({ message, details: { errors = [] } }: Refusal): string {
  return errors.length === 0 ? message : `${message}: ${errors.map((one) => `${one.path} ${one.message}`).join('; ')}`;
}
