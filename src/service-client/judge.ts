import { parse } from 'lossless-json';
import { operations, type OperationData, type OperationName } from '../contract/index.js';
import { Envelope } from '../contract/wire.js';
import type { Operation } from '../contract/operation.js';
import { saysOfReference, type SaysOfReference } from '../contract/duplicate-words.js';
import { readAmount } from '../readers/amount.js';
import {
  ContractBrokenError,
  DuplicateReferenceError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  UnknownOutcomeError,
  DOUBT_MEANS,
  meaningOfStatus,
  type DoubtReason,
} from './errors.js';
import { pathsOf } from './prepare.js';
import { asObject, retryAfterMs } from './retry-after.js';
import type { WireResult } from './send.js';

const MAX_CODE_LENGTH = 60;

export interface JudgeOptions {
  readonly redact: (text: string) => string;
  readonly nowMs: () => number;
  /** The reference that the request carries, if it has one. */
  readonly reference?: string | undefined;
  /** Further words for "duplicate"; see `contract/duplicate-words.ts`. */
  readonly duplicateWords: readonly string[];
}

/** Turns the result on the wire into the data, or into the one error for it. */
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
      throw new RateLimitedError(name, retryAfterMs(result.headers, body?.value, options.nowMs()));
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
  // "Envelope with an empty data object": some answers have no data object at all.
  const data = operation.data.safeParse(envelope.data.data ?? {});
  if (!envelope.data.success) {
    const { message, code } = readErrorBody(body.value);
    if (message === undefined && code === undefined) throw doubt(name, 'no-reason', httpStatus);
    // It says "no" and contains a whole record with its reference: a contradiction, so neither is believed.
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
  if (isOfAnother(operation, data.data, options.reference)) {
    if (DOUBT_MEANS[operation.effect] === 'unknown') throw doubt(name, 'other-reference', httpStatus);
    throw new ContractBrokenError(name, [`${referenceMember(operation)}: of another record`]);
  }
  return data.data as OperationData<N>;
}

/**
 * A cache on the way may serve another record with the same amount and receiver. Only a member that is spelled as in the
 * request is surely the caller's own reference: others may be the service's.
 */
function isOfAnother(operation: Operation, data: unknown, ours: string | undefined): boolean {
  const theirs = (data as Readonly<Record<string, unknown>> | null)?.[referenceMember(operation) ?? ''];
  return ours !== undefined && typeof theirs === 'string' && theirs !== '' && theirs !== ours;
}

const referenceMember = ({ reference, param }: Operation): string | undefined =>
  [reference, param].find((member) => member === 'referenceId' || member === 'provider_reference_id');

function refusal(name: OperationName, httpStatus: number, body: unknown, options: JudgeOptions, duplicate: boolean) {
  const { message, code, fields, ofReference, isRateExpired, saysNoRecord } = readErrorBody(body, options);
  const binds = DOUBT_MEANS[operations[name].effect] === 'unknown';
  if (binds && (duplicate || ofReference === 'duplicate')) return new DuplicateReferenceError(name, httpStatus);
  return new RejectedError(name, {
    httpStatus,
    fields,
    isRateExpired,
    isAboutReference: binds && ofReference !== 'nothing',
    saysNoRecord,
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

/** The raw content of a refusal's body; see `createRedactor` before any of it is shown. */
interface ErrorBody {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly fields: readonly string[];
  /** Whether it is about the request's reference, and whether it calls it a duplicate. */
  readonly ofReference: SaysOfReference;
  /** "Rate Expired": the quote ran out at the service. */
  readonly isRateExpired: boolean;
  /** In a 404: it says that a record does not exist, in the service's own envelope or by the record's name. */
  readonly saysNoRecord: boolean;
}

const MAX_FIELDS = 20;

/** Members in which a body gives its reason for refusing. */
const SAYING = ['message', 'error', 'error_code', 'code', 'status', 'reason', 'detail'] as const;
const MAX_TEXTS = 100;
const MAX_DEPTH = 4;

/**
 * Reads an error body. "Shape of an error response body: not shown"; four are seen on the wire: `{success, message,
 * error_code, data: {errors}}`, the same without `error_code`, `{status: "error", message, error_code: "WORD"}` and
 * `{statusCode, message, error}`. Never throws.
 *
 * @param request its reference, which a text may repeat and which may contain any word; and the words of
 * `DUPLICATE_WORDS`
 */
function readErrorBody(
  body: unknown,
  request: { readonly reference?: string | undefined; readonly duplicateWords?: readonly string[] } = {},
): ErrorBody {
  const root = asObject(body);
  const data = asObject(root['data']);
  const message = asText(root['message']) ?? asText(root['error']);
  const code = asText(root['error_code']) ?? asText(root['code']) ?? asText(data['error_code']) ?? asText(data['code']);
  const errors = data['errors'] ?? root['errors'];
  const said = [root, data].flatMap((part) => SAYING.map((member) => part[member]));
  const texts = [...said.flatMap((value) => textsIn(value)), ...textsIn(errors)].map((text) =>
    request.reference === undefined ? text : text.replaceAll(request.reference, ' '),
  );
  return {
    message,
    code,
    fields: fieldsOf(errors),
    ofReference: saysOfReference(texts, request.duplicateWords),
    isRateExpired: /\b(rate|quote)\b.*\bexpired\b|\bexpired\b.*\b(rate|quote)\b/i.test(
      `${message ?? ''} ${code ?? ''}`.replaceAll('_', ' '),
    ),
    saysNoRecord:
      (isOwnEnvelope(root) || texts.some((text) => RECORD.test(text))) && !texts.some((text) => ROUTE.test(text)),
  };
}

/** A router's reason: a path, or a word for one. Its 404 says nothing about a record. */
const ROUTE = /\b(route|endpoint|static resource|upstream|application|host|method)\b|\w\/\w|(^|\s)\/\w/i;
/** The interface's names for its records. */
const RECORD =
  /\b(reference|transaction|payment|deposit|withdrawal|invoice|order|onramp|offramp|transfer|send|record)\b/i;

/**
 * With a reason in it, no router that we know of writes this: `{success: false}`, or `{status: "error", error_code}`.
 */
function isOwnEnvelope(root: Readonly<Record<string, unknown>>): boolean {
  const hasReason = asText(root['message']) !== undefined || asText(root['error_code']) !== undefined;
  const isError =
    String(root['success']) === 'false' || (root['status'] === 'error' && asText(root['error_code']) !== undefined);
  return isError && hasReason;
}

/** `data` of an envelope that says DUPLICATE in the status of a record. */
const saysDuplicate = (data: unknown): boolean => /^DUPLICATE/i.test(asText(asObject(data)['status']) ?? '');

function fieldsOf(errors: unknown): string[] {
  const entries = Array.isArray(errors) ? errors : Object.keys(asObject(errors)).map((field) => ({ field }));
  return entries
    .map((entry) => asObject(entry))
    .map((entry) => entry['path'] ?? entry['field'] ?? entry['param'] ?? entry['property'])
    .map((field) => (Array.isArray(field) ? field.join('.') : field))
    .filter((field): field is string => typeof field === 'string' && /^[A-Za-z_][\w.[\]]{0,99}$/.test(field))
    .slice(0, MAX_FIELDS);
}

/** Every text in it, with the names of its members: `{referenceId: ['has been taken']}` names the reference. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  const members = Array.isArray(value) ? value.map((entry) => ['', entry] as const) : Object.entries(value);
  return members.flatMap(([name, inner]) => [name, ...textsIn(inner, depth + 1)]).slice(0, MAX_TEXTS);
}

/** Some pages give `message` as a list of sentences. */
function asText(value: unknown): string | undefined {
  if (Array.isArray(value)) return asText(value.filter((entry) => typeof entry === 'string').join('; '));
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The bytes are no JSON text that has one meaning. */
export class UnreadableJsonError extends Error {
  override readonly name = 'UnreadableJsonError';
}

/**
 * JSON without its traps: a number that JavaScript would change becomes its decimal text (2^53+1, 1e400), two equal
 * keys with different values are refused (`JSON.parse` keeps the last), `__proto__` is dropped, bytes must be UTF-8,
 * and too deep nesting is an error like any other. Throws UnreadableJsonError, without the text.
 */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return withoutProto(parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), undefined, readNumber));
  } catch {
    throw new UnreadableJsonError('not readable as JSON');
  }
}

/** JavaScript changes no number of so few digits. */
const SHORT = /^-?(0|[1-9]\d{0,14})$/;

function readNumber(token: string): number | string {
  const value = Number(token);
  if (SHORT.test(token)) return value + 0;
  const decimal = readAmount(token);
  // Longer than any amount: kept as text, which the schema judges.
  if (decimal === undefined) return token;
  return readAmount(value) === decimal ? value + 0 : decimal;
}

/** Harmless in itself, but `Object.assign` to a copy would make it a prototype. */
function withoutProto(value: unknown): unknown {
  if (Array.isArray(value)) value.forEach(withoutProto);
  else if (typeof value === 'object' && value !== null) {
    delete (value as Record<string, unknown>)['__proto__'];
    Object.values(value).forEach(withoutProto);
  }
  return value;
}
