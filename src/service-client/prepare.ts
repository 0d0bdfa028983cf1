import { stringify } from 'lossless-json';
import type { z } from 'zod';
import { callable, type CallableName } from '../contract/index.js';
import type { Operation } from '../contract/operation.js';
import { REFERENCE_PATTERN } from '../contract/sending.js';
import { readAmount } from '../readers/amount.js';
import { InvalidRequestError, type Problem } from './errors.js';

/** A request that fits the contract. `path` is relative and needs no encoding; `body` is JSON text. */
export interface PreparedRequest {
  readonly path: string;
  readonly body: string | undefined;
}

/**
 * Checks what would be sent, like the call itself, but before its claim is in `sending`. Throws InvalidRequestError
 * with the members at fault.
 */
export function checkRequest(name: CallableName, argument: unknown): void {
  prepare(name, argument);
}

/** Checks a call before anything else. Throws InvalidRequestError with the members at fault. */
export function prepare(name: CallableName, argument: unknown): PreparedRequest {
  const operation: Operation = callable[name];
  return { path: pathOf(name, operation, argument), body: bodyOf(name, operation, argument) };
}

function pathOf(name: CallableName, { path, param, body }: Operation, argument: unknown): string {
  if (param === undefined) return path;
  const value = body === undefined ? argument : (argument as Readonly<Record<string, unknown>> | null)?.[param];
  // Checked, not encoded: `encodeURIComponent('..')` is '..', which a URL parser takes for "one level up".
  if (typeof value !== 'string' || !REFERENCE_PATTERN.test(value)) {
    throw new InvalidRequestError(name, [{ path: param, problem: 'is not a reference of our grammar' }]);
  }
  return path.replace(`{${param}}`, value);
}

function bodyOf(name: CallableName, { body: schema, param = '' }: Operation, argument: unknown): string | undefined {
  if (schema === undefined) return undefined;
  const checked = schema.safeParse(argument);
  if (!checked.success) throw new InvalidRequestError(name, problemsOf(checked.error));
  const { [param]: _inPath, ...body } = checked.data as Readonly<Record<string, unknown>>;
  return stringify(body, undefined, undefined, [DECIMALS]);
}

/** `0.0000005` instead of `5e-7`: the same number, and a decimal for a reader that does not support exponents. */
const DECIMALS = {
  test: (value: unknown) => typeof value === 'number',
  stringify: (value: unknown) => readAmount(value) ?? JSON.stringify(value),
};
// Keys of open objects come from the caller or the service, so even a key may be personal data.
const readablePath = (path: readonly PropertyKey[]): string =>
  path.map((key) => (/^(?:[A-Za-z_]\w{0,60}|\d{1,4})$/.test(String(key)) ? String(key) : '…')).join('.');

/** What a schema refuses. The messages of zod and of our schemas name types and allowed words, never the value. */
function problemsOf(error: z.core.$ZodError): Problem[] {
  return error.issues.flatMap((issue) => {
    // Zod reports an unknown member on its parent; the member at fault is the unknown one.
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: readablePath([...issue.path, key]), problem: 'is not in the contract' }));
    }
    return [{ path: readablePath(issue.path), problem: issue.message }];
  });
}

export const pathsOf = (error: z.core.$ZodError): string[] => [...new Set(problemsOf(error).map(({ path }) => path))];
