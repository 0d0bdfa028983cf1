/** What a refusal's body says, as it came; see `createRedactor` before any of it is shown. */
export interface ErrorBody {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly fields: readonly string[];
  /** Whether it says that the reference is known already. */
  readonly isDuplicate: boolean;
  /** "Rate Expired": the quote ran out at the service. */
  readonly isRateExpired: boolean;
}

const MAX_FIELDS = 20;

/**
 * Reads an error body. "Shape of an error response body: not shown"; four are seen on the wire: `{success, message,
 * error_code, data: {errors}}`, the same without `error_code`, `{status: "error", message, error_code: "WORD"}` and
 * `{statusCode, message, error}`. Never throws.
 */
export function readErrorBody(body: unknown): ErrorBody {
  const root = asObject(body);
  const data = asObject(root['data']);
  const message = asText(root['message']) ?? asText(root['error']);
  const code = asText(root['error_code']) ?? asText(root['code']) ?? asText(data['error_code']) ?? asText(data['code']);
  const words = [code, asText(root['status']), asText(data['status']), asText(root['error'])];
  return {
    message,
    code,
    fields: fieldsOf(data['errors'] ?? root['errors']),
    // Also by its text: a "400 Duplicate reference" taken for a refusal would call a flow failed that may be paid.
    isDuplicate:
      words.some((word) => /^DUPLICATE/i.test(word ?? '')) ||
      /duplicate|reference\b.*\balready|already\b.*\breference/i.test(message ?? ''),
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

/** Some pages give `message` as a list of sentences. */
function asText(value: unknown): string | undefined {
  if (Array.isArray(value)) return asText(value.filter((entry) => typeof entry === 'string').join('; '));
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
