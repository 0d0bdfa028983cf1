import { saysOfReference, type SaysOfReference } from '../contract/duplicate-words.js';

/** What a refusal's body says, as it came; see `createRedactor` before any of it is shown. */
export interface ErrorBody {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly fields: readonly string[];
  /** Whether it is about the request's reference, and whether it calls it a duplicate. */
  readonly ofReference: SaysOfReference;
  /** "Rate Expired": the quote ran out at the service. */
  readonly isRateExpired: boolean;
}

const MAX_FIELDS = 20;

/** Members in which a body says why it refuses. */
const SAYING = ['message', 'error', 'error_code', 'code', 'status', 'reason', 'detail'] as const;
const MAX_TEXTS = 100;
const MAX_DEPTH = 4;

/**
 * Reads an error body. "Shape of an error response body: not shown"; four are seen on the wire: `{success, message,
 * error_code, data: {errors}}`, the same without `error_code`, `{status: "error", message, error_code: "WORD"}` and
 * `{statusCode, message, error}`. Never throws.
 *
 * @param request its reference, which a text may repeat and which may hold any word; and the words of `DUPLICATE_WORDS`
 */
export function readErrorBody(
  body: unknown,
  request: { readonly reference?: string | undefined; readonly duplicateWords?: readonly string[] } = {},
): ErrorBody {
  const root = asObject(body);
  const data = asObject(root['data']);
  const message = asText(root['message']) ?? asText(root['error']);
  const code = asText(root['error_code']) ?? asText(root['code']) ?? asText(data['error_code']) ?? asText(data['code']);
  const errors = data['errors'] ?? root['errors'];
  const told = [root, data].flatMap((part) => SAYING.map((member) => part[member]));
  const texts = [...told.flatMap((value) => textsIn(value)), ...textsIn(errors)].map((text) =>
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
  };
}

/** `data` of an envelope that says DUPLICATE in the status of a record. */
export const saysDuplicate = (data: unknown): boolean => /^DUPLICATE/i.test(asText(asObject(data)['status']) ?? '');

function fieldsOf(errors: unknown): string[] {
  const entries = Array.isArray(errors) ? errors : Object.keys(asObject(errors)).map((field) => ({ field }));
  return entries
    .map((entry) => asObject(entry))
    .map((entry) => entry['path'] ?? entry['field'] ?? entry['param'] ?? entry['property'])
    .map((field) => (Array.isArray(field) ? field.join('.') : field))
    .filter((field): field is string => typeof field === 'string' && /^[A-Za-z_][\w.[\]]{0,99}$/.test(field))
    .slice(0, MAX_FIELDS);
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Every text in it, with the names of its members: `{referenceId: ['has been taken']}` names the reference as a member. */
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
