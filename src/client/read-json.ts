import { parse } from 'lossless-json';
import { fromWireNumber } from '../money.js';

/** The bytes are no JSON text that has one meaning. */
export class UnreadableJsonError extends Error {
  override readonly name = 'UnreadableJsonError';
}

/**
 * JSON without its traps: a number that JavaScript would change becomes its decimal text (2^53+1, 1e400), two equal
 * keys with different values are refused (`JSON.parse` keeps the last), `__proto__` is dropped, bytes must be UTF-8, and
 * nesting without end is an error like any other. Throws UnreadableJsonError, without the text.
 */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return withoutProto(parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), undefined, readNumber));
  } catch {
    throw new UnreadableJsonError('not readable as JSON');
  }
}

function readNumber(token: string): number | string {
  const value = Number(token);
  try {
    const decimal = fromWireNumber(token);
    return Number.isFinite(value) && fromWireNumber(value) === decimal ? value + 0 : decimal;
  } catch {
    return token; // Longer than any amount: kept as text, for the schema to judge.
  }
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
