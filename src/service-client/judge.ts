import { parse } from 'lossless-json';
import { isOwnError, meaningOfAnswer, type AnswerBody, type AnswerMeaning } from '../contract/answers.js';
import { callable, type CallableName, type OperationData } from '../contract/index.js';
import { Envelope } from '../contract/wire.js';
import type { Operation } from '../contract/operation.js';
import { saysOfReference, type SaysOfReference } from '../contract/duplicate-words.js';
import { readAmount } from '../readers/amount.js';
import { MOST_LEVELS } from '../readers/json-levels.js';
import { readReference } from '../readers/reference.js';
import {
  ContractBrokenError,
  DuplicateReferenceError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  TurnedAwayError,
  UnknownOutcomeError,
  DOUBT_MEANS,
  type DoubtReason,
} from './errors.js';
import { pathsOf } from './prepare.js';
import { asObject, retryAfterMs } from './retry-after.js';
import type { WireResult } from './send.js';

type Answer = Extract<WireResult, { kind: 'answer' }>;

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
export function judge<N extends CallableName>(name: N, result: WireResult, options: JudgeOptions): OperationData<N> {
  if (result.kind === 'not-sent') throw new NotSentError(name, result.reason);
  if (result.kind === 'doubt') throw doubt(name, result.reason);

  const { httpStatus, headers } = result;
  const operation: Operation = callable[name];
  const body = bodyOf(operation, result, options);
  const binds = DOUBT_MEANS[operation.effect] === 'unknown';
  const meaning = binds ? meaningOfAnswer(httpStatus, body.by) : meaningOfReading(httpStatus, body.by);
  switch (meaning) {
    case 'done':
      return dataOf(name, body.value, httpStatus, options) as OperationData<N>;
    case 'not-executed':
      if (httpStatus === 401) throw new TurnedAwayError(name);
      throw new RateLimitedError(name, retryAfterMs(headers, body.value, options.nowMs()));
    case 'duplicate':
      throw new DuplicateReferenceError(name, httpStatus);
    case 'refused':
      throw refusal(name, httpStatus, body, options);
    case 'unknown':
      throw doubt(name, doubtReasonOf(httpStatus, body), httpStatus, shownText(body, options));
    default:
      throw meaning satisfies never;
  }
}

/** What is not to be repeated is turned away by the service alone; a reading by anything on the way. */
function meaningOfReading(httpStatus: number, by: AnswerBody): AnswerMeaning {
  if (httpStatus === 401 || httpStatus === 429) return 'not-executed';
  const meaning = meaningOfAnswer(httpStatus, by);
  // For a reading there is no duplicate: it is just refused.
  return meaning === 'duplicate' ? meaningOfReading(httpStatus === 409 ? 400 : httpStatus, 'refused') : meaning;
}

/** A readable body, and whose it is. */
interface Body extends ErrorBody {
  readonly by: AnswerBody;
  /** Undefined if it is not readable as JSON. */
  readonly value: unknown;
}

/** Whether the service wrote it: its envelope of success, or one of its own error bodies. */
const isOwn = (httpStatus: number, body: unknown): boolean => isDone(body) || isOwnError(httpStatus, body);

function isDone(body: unknown): boolean {
  const envelope = Envelope.safeParse(body);
  return envelope.success && envelope.data.success;
}

function bodyOf(operation: Operation, { httpStatus, bytes }: Answer, options: JudgeOptions): Body {
  const value = readable(bytes);
  const error = readErrorBody(value, options);
  const said = (by: AnswerBody): Body => ({ ...error, by, value });
  const isMoney = operation.effect === 'money';
  if (!isOwn(httpStatus, value)) return said('foreign');
  if (isDone(value)) return said(isMoney && saysDuplicate(asObject(value)['data']) ? 'duplicate' : 'done');
  // It says "no" and contains a whole record with its reference: neither is believed.
  if (isMoney && operation.data.safeParse(asObject(value)['data']).success) return said('contradictory');
  return said(error.ofReference === 'duplicate' ? 'duplicate' : 'refused');
}

function dataOf(name: CallableName, value: unknown, httpStatus: number, options: JudgeOptions): unknown {
  const operation: Operation = callable[name];
  const binds = DOUBT_MEANS[operation.effect] === 'unknown';
  // "Envelope with an empty data object": some answers have no data object at all.
  const data = operation.data.safeParse(asObject(value)['data'] ?? {});
  if (!data.success) {
    if (binds) throw doubt(name, 'wrong-shape', httpStatus);
    throw new ContractBrokenError(name, pathsOf(data.error));
  }
  if (isOfAnother(operation, data.data, options.reference, binds)) {
    if (binds) throw doubt(name, 'other-reference', httpStatus);
    throw new ContractBrokenError(name, [`${referenceMember(operation)}: of another record`]);
  }
  return data.data;
}

function doubtReasonOf(httpStatus: number, { by, value }: Body): DoubtReason {
  if (httpStatus >= 300 && httpStatus <= 399) return 'redirect';
  if (httpStatus < 200 || httpStatus > 299) return 'http-status';
  if (by === 'contradictory') return 'contradictory';
  if (value === undefined) return 'unreadable-body';
  return Envelope.safeParse(value).success ? 'no-reason' : 'wrong-shape';
}

/** `title` and `detail` are of problem+json (RFC 9457), which anything on the way may write. */
function shownText({ message, value }: Body, { redact }: JudgeOptions): string | undefined {
  const { title, detail } = asObject(value);
  const text = message ?? [asText(title), asText(detail)].filter((said) => said !== undefined).join(': ');
  return text === '' ? undefined : redact(text);
}

/**
 * A cache on the way may serve another record with the same amount and receiver. Only a member that is spelled as in the
 * request is surely the caller's own reference: others may be the service's.
 */
function isOfAnother(operation: Operation, data: unknown, ours: string | undefined, binds: boolean): boolean {
  const theirs = (data as Readonly<Record<string, unknown>> | null)?.[referenceMember(operation) ?? ''];
  if (ours === undefined || typeof theirs !== 'string') return false;
  // The answer to a POST is of that POST; a record that is looked up and names nothing may be of any.
  return theirs.trim() === '' ? !binds : readReference(theirs) !== ours;
}

const referenceMember = ({ reference, param }: Operation): string | undefined =>
  [reference, param].find((member) => member === 'referenceId' || member === 'provider_reference_id');

function refusal(name: CallableName, httpStatus: number, body: Body, { redact }: JudgeOptions): RejectedError {
  const { message, code, fields, ofReference, isRateExpired, saysNoRecord } = body;
  return new RejectedError(name, {
    httpStatus,
    fields,
    isRateExpired,
    isAboutReference: DOUBT_MEANS[callable[name].effect] === 'unknown' && ofReference !== 'nothing',
    saysNoRecord,
    ...(message === undefined ? {} : { message: redact(message) }),
    ...(code === undefined ? {} : { code: redact(code).slice(0, MAX_CODE_LENGTH) }),
  });
}

const doubt = (name: CallableName, reason: DoubtReason, httpStatus?: number, text?: string): Error =>
  DOUBT_MEANS[callable[name].effect] === 'unknown'
    ? new UnknownOutcomeError(name, reason, httpStatus, text)
    : new ServiceUnavailableError(name, reason, httpStatus);

function readable(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes);
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
  /** In a 404: it is about a record, and not about a path. */
  readonly saysNoRecord: boolean;
}

const MAX_FIELDS = 20;

/** Members in which a body gives its reason for refusing. */
const SAYING = ['message', 'error', 'error_code', 'code', 'status', 'reason', 'detail'] as const;
const MAX_TEXTS = 100;
const MAX_DEPTH = 4;
/** No pattern sees more of a text: the length of an answer must not decide how long it takes to read it. */
const MAX_TEXT_LENGTH = 1_000;

/**
 * Reads an error body, whosever it is (`OWN_ERROR_BODIES`). Never throws.
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
    request.reference === undefined ? text : withoutReference(text, request.reference),
  );
  return {
    message,
    code,
    fields: fieldsOf(errors),
    ofReference: saysOfReference(texts, request.duplicateWords),
    isRateExpired: /\b(rate|quote)\b.*\bexpired\b|\bexpired\b.*\b(rate|quote)\b/i.test(
      `${message ?? ''} ${code ?? ''}`.replaceAll('_', ' '),
    ),
    saysNoRecord: !texts.some((text) => ROUTE.test(text) || ACCOUNT.test(text)),
  };
}

const IN_WORD = /[\p{L}\p{N}]/u;

/** Where it stands alone: a reference of one letter is in every word. */
function withoutReference(text: string, reference: string): string {
  return text.split(reference).reduce((before, after) => {
    const isInWord = IN_WORD.test(before.at(-1) ?? '') || IN_WORD.test(after.at(0) ?? '');
    return `${before}${isInWord ? reference : ' '}${after}`;
  });
}

/** A router's reason: a path, or a word for one. Its 404 says nothing about a record. */
const ROUTE = /\b(route|endpoint|static resource|upstream|application|host|method)\b|\w\/\w|(^|\s)\/\w/i;
/** What is missing is who asks, as after a mix-up of keys or environments: what it has sent is not asked for. */
const ACCOUNT = /\b(integrator|organi[sz]ation|merchant|tenant|api key)\b/i;
/** `data` of an envelope that says DUPLICATE in the status of a record. */
const saysDuplicate = (data: unknown): boolean => /^DUPLICATE/i.test(asText(asObject(data)['status']) ?? '');

function fieldsOf(errors: unknown): string[] {
  const entries = Array.isArray(errors) ? errors : Object.keys(asObject(errors)).map((field) => ({ field }));
  return entries
    .slice(0, MAX_TEXTS)
    .map((entry) => asObject(entry))
    .map((entry) => entry['path'] ?? entry['field'] ?? entry['param'] ?? entry['property'])
    .map((field) => (Array.isArray(field) ? field.join('.') : field))
    .filter((field): field is string => typeof field === 'string' && /^[A-Za-z_][\w.[\]]{0,99}$/.test(field))
    .slice(0, MAX_FIELDS);
}

/** Every text in it, with the names of its members: `{referenceId: ['has been taken']}` names the reference. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [cut(value)];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  const members = Array.isArray(value) ? value.map((entry) => ['', entry] as const) : Object.entries(value);
  return members
    .slice(0, MAX_TEXTS)
    .flatMap(([name, inner]) => [cut(name), ...textsIn(inner, depth + 1)])
    .slice(0, MAX_TEXTS);
}

/** Some pages give `message` as a list of sentences. */
function asText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return asText(value.slice(0, MAX_TEXTS).filter((entry) => typeof entry === 'string').join('; ')); // prettier-ignore
  }
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? cut(value).trim() : '';
  return text === '' ? undefined : text;
}

const cut = (text: string): string => text.slice(0, MAX_TEXT_LENGTH);

/** The bytes are no JSON text that has one meaning. */
export class UnreadableJsonError extends Error {
  override readonly name = 'UnreadableJsonError';
}

/**
 * JSON without its traps: a number that JavaScript would change becomes its decimal text (2^53+1, 1e400), two equal
 * keys with different values are refused (`JSON.parse` keeps the last), `__proto__` is dropped, bytes must be UTF-8,
 * and more than 32 levels are an error like any other. Throws UnreadableJsonError, without the text.
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
function withoutProto(value: unknown, level = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level === MOST_LEVELS) throw new UnreadableJsonError('too many levels');
  delete (value as Record<string, unknown>)['__proto__'];
  for (const member of Object.values(value)) withoutProto(member, level + 1);
  return value;
}
