/**
 * The payload codec wraps what arrived unencrypted, so that it can be told deterministically; whether it may be heard is
 * a setting, which the flow's first activity brings.
 */
const MARKER = '__plaintext';

export function isPlaintext(value: unknown): value is { readonly __plaintext: unknown } {
  return typeof value === 'object' && value !== null && MARKER in value;
}

/** For reading a hint (such as the deadline) before it is known whether the message may be heard. */
export function peek(value: unknown): unknown {
  return isPlaintext(value) ? value.__plaintext : value;
}
