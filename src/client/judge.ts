import { operations, type OperationData, type OperationName } from '../contract/index.js';
import { Envelope } from '../contract/envelope.js';
import type { Operation } from '../contract/operation.js';
import { readErrorBody, saysDuplicate } from './error-body.js';
import {
  ContractBrokenError,
  DuplicateReferenceError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  UnknownOutcomeError,
} from './errors.js';
import { DOUBT_MEANS, meaningOfStatus, type DoubtReason } from './outcome.js';
import { pathsOf } from './problems.js';
import { readJson } from './read-json.js';
import { retryAfterMs } from './retry-after.js';
import type { WireResult } from './send.js';

const MAX_CODE_LENGTH = 60;

export interface JudgeOptions {
  readonly redact: (text: string) => string;
  readonly nowMs: () => number;
  /** The reference that the request carries, where it has one. */
  readonly reference?: string | undefined;
  /** Further words for "duplicate"; see `contract/duplicate-words.ts`. */
  readonly duplicateWords: readonly string[];
}

/** From what came over the wire to the data, or to the one error that says what it means. */
export function judge<N extends OperationName>(name: N, result: WireResult, options: JudgeOptions): OperationData<N> {
  if (result.kind === 'not-sent') throw new NotSentError(name, result.reason);
  if (result.kind === 'doubt') throw doubt(name, result.reason);

  const { httpStatus } = result;
  const body = readable(result.bytes);
  const operation: Operation = operations[name];
  const meaning = meaningOfStatus(httpStatus);
  switch (meaning) {
    case 'unauthorized':
      throw new NotSentError(name, 'unauthorized');
    case 'rate-limited':
      throw new RateLimitedError(name, retryAfterMs(result.header, body?.value, options.nowMs()));
    case 'rejected':
    case 'duplicate':
      throw refusal(name, httpStatus, body?.value, options, meaning === 'duplicate');
    case 'doubt':
      throw doubt(name, httpStatus >= 300 && httpStatus <= 399 ? 'redirect' : 'http-status', httpStatus);
    case 'body':
      break;
  }

  if (body === undefined) throw doubt(name, 'unreadable-body', httpStatus);
  const envelope = Envelope.safeParse(body.value);
  if (!envelope.success) throw doubt(name, 'wrong-shape', httpStatus);
  // "Envelope with an empty data object": some answers have none at all.
  const data = operation.data.safeParse(envelope.data.data ?? {});
  if (!envelope.data.success) {
    const { message, code } = readErrorBody(body.value);
    if (message === undefined && code === undefined) throw doubt(name, 'no-reason', httpStatus);
    // It says "no" and hands over a whole record with its reference: believe neither.
    if (operation.effect === 'money' && data.success) throw doubt(name, 'contradictory', httpStatus);
    throw refusal(name, httpStatus, body.value, options, false);
  }
  if (operation.effect === 'money' && saysDuplicate(envelope.data.data)) {
    throw new DuplicateReferenceError(name, httpStatus);
  }
  if (!data.success) {
    if (DOUBT_MEANS[operation.effect] === 'unknown') throw doubt(name, 'wrong-shape', httpStatus);
    throw new ContractBrokenError(name, pathsOf(data.error));
  }
  return data.data as OperationData<N>;
}

function refusal(name: OperationName, httpStatus: number, body: unknown, options: JudgeOptions, duplicate: boolean) {
  const { message, code, fields, ofReference, isRateExpired } = readErrorBody(body, options);
  const binds = DOUBT_MEANS[operations[name].effect] === 'unknown';
  if (binds && (duplicate || ofReference === 'duplicate')) return new DuplicateReferenceError(name, httpStatus);
  return new RejectedError(name, {
    httpStatus,
    fields,
    isRateExpired,
    isAboutReference: binds && ofReference !== 'nothing',
    ...(message === undefined ? {} : { message: options.redact(message) }),
    ...(code === undefined ? {} : { code: options.redact(code).slice(0, MAX_CODE_LENGTH) }),
  });
}

const doubt = (name: OperationName, reason: DoubtReason, httpStatus?: number): Error =>
  DOUBT_MEANS[operations[name].effect] === 'unknown'
    ? new UnknownOutcomeError(name, reason, httpStatus)
    : new ServiceUnavailableError(name, reason, httpStatus);

function readable(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: readJson(bytes) };
  } catch {
    return undefined;
  }
}
