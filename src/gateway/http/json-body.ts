import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isSafeNumber, parse } from 'lossless-json';
import { Refusal } from './refusal.js';
import { MOST_LEVELS } from '../../readers/json-levels.js';

/** A body: its raw bytes, for signatures, and its value, since parsing is expensive, and only for admitted senders. */
export interface JsonBody {
  readonly raw: Buffer;
  /** @param ofTexts what it must be besides @throws Refusal 400 if it is not JSON as we accept it */
  readonly read: (ofTexts?: TextsOnly) => Promise<unknown>;
}

/** Content that is text alone, of so many members and entries: checked before it is parsed. */
export interface TextsOnly {
  readonly mostValues: number;
}

/**
 * Parsed at once. The largest bodies, full of keys, take ten milliseconds and more to parse, and several come together:
 * each has a turn of the event loop to itself.
 */
const SMALL_BYTES = 8 * 1_024;

/** Makes `request.body` a `JsonBody` and refuses every content type but JSON and every content encoding. */
export function takeJsonBodies(server: FastifyInstance): void {
  let turn: Promise<unknown> = Promise.resolve();
  const read = async (raw: Buffer, ofTexts?: TextsOnly): Promise<unknown> => {
    if (raw.length > SMALL_BYTES) await (turn = turn.then(() => setImmediate()));
    try {
      return readJson(raw, ofTexts);
    } catch (error) {
      throw error instanceof UnreadableJsonError ? new Refusal(400, error.message) : error;
    }
  };
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, raw: Buffer) =>
      // Many clients send the content type with every request: the route decides whether there has to be a body.
      raw.length === 0 ? undefined : ({ raw, read: (ofTexts) => read(raw, ofTexts) } satisfies JsonBody),
  );
  server.addHook('onRequest', (request, _reply, next) => {
    const encoding = request.headers['content-encoding'];
    const isPlain = encoding === undefined || encoding.toLowerCase() === 'identity';
    next(isPlain ? undefined : new Refusal(415, 'Send the body without content encoding.'));
  });
}

/** @throws Refusal if there is no body */
export function bodyOf({ body }: FastifyRequest): JsonBody {
  if (body === undefined || body === null) throw new Refusal(400, 'Send a JSON body.');
  return body as JsonBody;
}

/**
 * Every value of a header, in order: two values may be a trick. Looked up by name, since sorting out all headers of
 * each request takes longer than checking its signature.
 *
 * @param rawHeaders names and values in turn, as Node gives them
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const isIts = (at: number) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name;
  return rawHeaders.filter((_value, at) => isIts(at));
}

/** The body is not JSON as we accept it. The message names the rule, never the content. */
export class UnreadableJsonError extends Error {
  override readonly name = 'UnreadableJsonError';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const POINT = 0x2e;

/**
 * Strict JSON from raw bytes: UTF-8, with or without a byte order mark (RFC 8259, 8.1), at most 32 levels deep, no
 * duplicate member, nothing that a careless copy would write into a prototype (`__proto__`, `constructor.prototype`). A
 * number that JavaScript would change (2^53+1, 1e400) stays the text that was sent.
 *
 * @throws UnreadableJsonError
 */
export function readJson(bytes: Uint8Array, ofTexts?: TextsOnly): unknown {
  const { members, longNumbers } = scan(bytes, ofTexts);
  const value = parseText(decode(bytes), longNumbers);
  // The parser accepts a duplicate member if both values are equal, and has no option against it.
  if (count(value) !== members) throw new UnreadableJsonError('The body has one member twice.');
  return value;
}

/** With this many digits and no exponent, JavaScript keeps every number exactly. */
const EXACT_DIGITS = 15;

/**
 * Counts the members of all objects by the colons outside of strings, and says whether a number may be one that
 * JavaScript would change. Refuses depth before a recursive parser sees it, and what is no text where there is only text.
 */
function scan(bytes: Uint8Array, ofTexts?: TextsOnly): { readonly members: number; readonly longNumbers: boolean } {
  let members = 0;
  let values = 0;
  let digits = 0;
  let longNumbers = false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (!inString && byte >= 0x30 && byte <= 0x39) {
      if (ofTexts !== undefined) throw new UnreadableJsonError('The body has a number, where only texts belong.');
      digits += 1;
      longNumbers ||= digits > EXACT_DIGITS;
      continue;
    }
    // An exponent; a point continues the digits.
    if (digits > 0 && (byte | 0x20) === 0x65) longNumbers = true;
    if (byte !== POINT) digits = 0;
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COLON) members += 1;
    else if (byte === COMMA) {
      values += 1;
      if (ofTexts !== undefined && values > ofTexts.mostValues)
        throw new UnreadableJsonError(`The body has more than ${ofTexts.mostValues} values.`);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MOST_LEVELS) throw new UnreadableJsonError(`The body is more than ${MOST_LEVELS} levels deep.`);
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return { members, longNumbers };
}

function decode(bytes: Uint8Array): string {
  try {
    // It leaves out a byte order mark: some senders write one.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableJsonError('The body is not UTF-8.');
  }
}

function parseText(text: string, longNumbers: boolean): unknown {
  try {
    // Several times as fast as the parser that sees each number as text.
    if (!longNumbers) return JSON.parse(text) as unknown;
    return parse(text, null, (number) => (isSafeNumber(number) ? Number(number) : number));
  } catch {
    throw new UnreadableJsonError('The body is not JSON, or has one member twice.');
  }
}

function count(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + count(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__' || (name === 'constructor' && hasPrototype(member))) {
      throw new UnreadableJsonError(`The body has a member "${name}" that would reach a prototype.`);
    }
    members += 1 + count(member);
  }
  return members;
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
