import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { StoreUnavailableError } from '../../store/store-errors.js';
import { isOutage } from '../../temporal/connection.js';
import { TooManyQuestionsError } from '../../temporal/questions.js';
import type { ErrorBody, ServiceErrorBody } from '../../api/refusal.js';
import type { RefusalCode } from '../../protocol/refusals.js';

/** Its flow, what is wrong with it, the cause, and the legal actions, if an order was refused. */
type RefusalDetails = Omit<ErrorBody['data'], 'code'> & { readonly code?: RefusalCode | undefined };

/** For `Retry-After`, if the reason of a refusal usually passes soon: no worker, store or service, or no room. */
export const RETRY_AFTER_SECONDS = 5;

/** Thrown by handlers to answer with a status and a sentence that says what to do. Never holds a secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly details: RefusalDetails;
  /** Seconds, for the header `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, details: RefusalDetails = {}, retryAfter?: number) {
    super(message);
    this.status = status;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** Thrown if a request has no token that the gateway knows: the answer names the scheme (RFC 6750, section 3). */
export class TokenRefusal extends Refusal {
  /** @param why for a refused token, repeating nothing of it */
  constructor(sent: 'no_token' | 'unknown_token' | 'refused_token', why?: string) {
    const none = 'Send the header "Authorization: Bearer" with a gateway token.';
    const unknown =
      'The token is none of this gateway: use the secret of one of its GATEWAY_TOKENS, or a token of its OIDC_ISSUER.';
    const message = sent === 'no_token' ? none : sent === 'refused_token' ? `The token is not taken: ${why}.` : unknown;
    super(401, message, { code: sent });
  }
}

/** Another request has this reference: nothing was started for this one. */
export class OtherRequestRefusal extends Refusal {
  constructor(message: string, reference: string) {
    super(409, message, { reference, code: 'other_request' });
  }
}

const SENTENCES: Readonly<Record<number, string>> = {
  400: 'The request cannot be read.',
  404: 'There is nothing at this address.',
  408: 'The request took too long to arrive.',
  411: 'Say how long the body is.',
  413: 'The body is too large.',
  415: 'Send the body as application/json in UTF-8, not compressed.',
  431: 'The headers are too large.',
};

export function errorBody(status: number, message?: string, data: RefusalDetails = {}): ErrorBody {
  return { success: false, message: message ?? SENTENCES[status] ?? STATUS_CODES[status] ?? 'Refused.', data };
}

const SERVICE_PATH = '/api/v3/';

/** "Shape of an error response body: not shown": words for the gateway's own refusals, where such codes usually are. */
const ERROR_CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'INVALID_API_KEY',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'DUPLICATE_REFERENCE',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
};

function bodyAt(
  path: string,
  status: number,
  message?: string,
  details?: RefusalDetails,
): ErrorBody | ServiceErrorBody {
  const own = errorBody(status, message, details);
  if (!path.startsWith(SERVICE_PATH)) return own;
  const { errors = [], ...rest } = own.data;
  const code = ERROR_CODES[status] ?? (status >= 500 ? 'INTERNAL_ERROR' : 'BAD_REQUEST');
  return {
    success: false,
    message: own.message,
    error_code: code,
    data: { errors },
    towline: { by: 'gateway', ...rest },
  };
}

/** Unknown paths, wrong capabilities and malformed references get one answer, which does not show which it was. */
export function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send(bodyAt(request.url, 404));
}

/** A path that exists only for other methods names them: 405 with `Allow`. */
export function answerOtherMethods(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]) {
  const message = `There is no ${request.method} here: use ${allowed.join(' or ')}.`;
  return reply
    .code(405)
    .header('allow', allowed.join(', '))
    .send(bodyAt(request.url, 405, message));
}

export function createErrorHandler(logger: Logger) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refuse = (status: number, message?: string, details?: RefusalDetails, retryAfter?: number) => {
      if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
      return reply.code(status).send(bodyAt(request.url, status, message, details));
    };
    if (error instanceof TokenRefusal) void reply.header('www-authenticate', 'Bearer');
    if (error instanceof Refusal) return refuse(error.status, error.message, error.details, error.retryAfter);
    if (error instanceof StoreUnavailableError) {
      logger.error({ requestId: request.id, error: errorForLog(error) }, 'the store is unavailable');
      const why = error.isOfAudit
        ? 'Nothing is done without an entry in the audit log, which cannot be written now. Send it again.'
        : 'The request could not be stored. Send it again.';
      const code = error.isOfAudit ? 'audit_unavailable' : 'store_unavailable';
      return refuse(503, why, { code }, RETRY_AFTER_SECONDS);
    }
    if (error instanceof TooManyQuestionsError) {
      const why = `${error.message}. Send it again.`;
      return refuse(error.isOwn ? 429 : 503, why, { code: 'too_many_questions' }, RETRY_AFTER_SECONDS);
    }
    if (isOutage(error)) {
      logger.error({ requestId: request.id, error: errorForLog(error) }, 'Temporal cannot be reached');
      const message = 'Temporal cannot be reached. Send it again: one reference is one flow.';
      return refuse(503, message, { code: 'temporal_unavailable' }, RETRY_AFTER_SECONDS);
    }
    const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
    // The rest of an unread body would be taken for the next request.
    if (status === 413 || status === 415) void reply.header('connection', 'close');
    if (status >= 400 && status < 500) return refuse(status);
    logger.error({ requestId: request.id, error: errorForLog(error) }, 'a request failed');
    return refuse(500, 'The gateway failed at this request. Its log has more under the request id.');
  };
}

/**
 * The loggable parts of an error: its name, its code, and the same of its cause. Messages and members may hold bodies.
 */
export interface LoggedError {
  readonly name: string;
  readonly code?: string | number;
  readonly cause?: LoggedError;
  /** Where it was thrown: functions and files, without the message. */
  readonly at?: string;
}

export function errorForLog(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : null;
  const at = error.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(code === null ? {} : { code }),
    ...(at === undefined || depth > 0 ? {} : { at: at.trim() }),
    ...(error.cause === undefined || depth > 2 ? {} : { cause: errorForLog(error.cause, depth + 1) }),
  };
}
