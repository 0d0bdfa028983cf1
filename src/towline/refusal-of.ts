import { z } from 'zod';
import {
  InvalidError,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  type TowlineError,
  UnavailableError,
} from './errors.js';
import type { HttpAnswer } from './http-request.js';

const ErrorBody = z.object({
  success: z.literal(false),
  message: z.string(),
  data: z
    .object({
      errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      actions: z.array(z.string()).optional(),
    })
    .optional(),
});

const SILENT = 'it does not say why.';

/** The one table from the gateway's statuses to errors; undefined for what no gateway of ours would answer. */
export function refusalOf(
  { status, retryAfter }: HttpAnswer,
  json: unknown,
  isStart: boolean,
): TowlineError | undefined {
  const body = ErrorBody.safeParse(json);
  const message = body.data?.message ?? SILENT;
  // What stands before a gateway that restarts answers so, too, in words of its own.
  if (status >= 500 || status === 429 || status === 408) {
    return new UnavailableError(status, message, secondsAsMs(retryAfter));
  }
  if (status === 401 || status === 403) return new NotAuthorisedError(status, message);
  if (!body.success) return undefined;
  const { errors, actions = [] } = body.data.data ?? {};
  if (status === 404) return new NotFoundError(message);
  if (status === 409) return isStart ? new OtherRequestError(message) : new RefusedError(message, actions);
  return status >= 400 ? new InvalidError(message, errors) : undefined;
}

/** The gateway gives seconds; a date, which others may give, is no hint that is worth a clock. */
function secondsAsMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,5}$/.test(header) ? Number(header) * 1_000 : undefined;
}
