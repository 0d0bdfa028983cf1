import { z } from 'zod';
import { flag, text } from './reading.js';

/*
 * What an answer to a POST means: the body is judged before the status. docs/decisions.md prints these tables.
 */

const no = flag().refine((success) => !success);
const reason = z
  .union([text(), z.array(z.unknown())])
  .refine((value) => (typeof value === 'string' ? value.trim() !== '' : value.some((one) => typeof one === 'string')));

/**
 * The service's own error bodies, each with its reason: "Shape of an error response body: not shown", so these are the
 * four of its documentation. Only they are words of the service. A body of any other form may come from anything on the
 * way (a firewall's page, a gateway's problem+json), before the request was executed or after it.
 */
export const OWN_ERROR_BODIES = {
  'envelope with a code': {
    form: z.looseObject({ success: no, error_code: reason }),
    example: { success: false, message: 'Insufficient Funds', error_code: 400, data: { errors: [] } },
  },
  envelope: {
    form: z.looseObject({ success: no, message: reason }),
    example: { success: false, message: 'Insufficient Funds', data: { errors: [] } },
  },
  'word for error': {
    form: z.looseObject({ status: z.literal('error'), message: reason, error_code: z.string().min(1) }),
    example: {
      status: 'error',
      message: 'Insufficient Funds',
      error_code: 'INSUFFICIENT_BALANCE',
      timestamp: '2026-01-05T08:00:00.000Z',
    },
  },
  // Without `data` it is what several web frameworks answer by default, and so what a gateway on the way may.
  'status code': {
    form: z.looseObject({ statusCode: z.number(), message: reason, error: reason, data: z.looseObject({}) }),
    example: { statusCode: 429, message: 'Too many requests', error: 'Too Many Requests', data: { retryAfter: 30 } },
  },
} as const satisfies Record<string, { readonly form: z.ZodType; readonly example: object }>;

/** Whether an answer of this status is in one of the service's own error bodies. */
export function isOwnError(httpStatus: number, body: unknown): boolean {
  const isOne = Object.values(OWN_ERROR_BODIES).some(({ form }) => form.safeParse(body).success);
  const { statusCode } = (isOne ? body : {}) as { readonly statusCode?: unknown };
  return isOne && (typeof statusCode !== 'number' || statusCode === httpStatus);
}

/**
 * By whom a body was written, and what it says. `done`: the service's envelope of success. `duplicate`, `refused`: its
 * own error body, with or without words for a known reference. `contradictory`: its refusal and a whole record in one.
 * `foreign`: everything else, also no body.
 */
export const ANSWER_BODIES = ['done', 'duplicate', 'refused', 'contradictory', 'foreign'] as const;
export type AnswerBody = (typeof ANSWER_BODIES)[number];

/**
 * `not-executed`: turned away before it was executed, and may be sent again. `unknown`: it may have been executed, and
 * may not.
 */
export type AnswerMeaning = 'done' | 'duplicate' | 'not-executed' | 'refused' | 'unknown';

/** Of the service's own refusals. With any other status the outcome is unknown: 408 and 5xx may follow an execution. */
const REFUSED_BY_STATUS: Readonly<Record<number, AnswerMeaning>> = {
  400: 'refused',
  401: 'not-executed',
  403: 'refused',
  404: 'refused',
  409: 'duplicate',
  422: 'refused',
  429: 'not-executed',
};

const isSuccess = (httpStatus: number): boolean => httpStatus >= 200 && httpStatus <= 299;

/** What the answer to a POST that moves money means, by its status and its body. */
export function meaningOfAnswer(httpStatus: number, body: AnswerBody): AnswerMeaning {
  switch (body) {
    case 'duplicate':
      return 'duplicate';
    case 'done':
      return isSuccess(httpStatus) ? 'done' : 'unknown';
    case 'refused':
      return isSuccess(httpStatus) ? 'refused' : (REFUSED_BY_STATUS[httpStatus] ?? 'unknown');
    case 'contradictory':
    case 'foreign':
      return 'unknown';
    default:
      return body satisfies never;
  }
}
