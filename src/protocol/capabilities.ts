/*
 * Our own URLs at which the service, its account and its provider report to us. Each ends in a capability: a party that has
 * a whole one can act as the service.
 */

/** How others write the slash before it: `%2F`, `%252F`, `\x2F`, `\u002F`, `%u002F`. As `&#x2F;` it needs no help. */
const WRITTEN_SLASH = '[%xu](?:25){0,4}(?:00)?2f';

/**
 * A capability of ours, by its own form: whatever stands around it, and however that is written. Nothing else has 43
 * hexadecimal digits. Others write the searched text, so that the pattern looks at a few characters at a time.
 */
const CAPABILITY = new RegExp(`(?:(?<![0-9a-f])|(?<=${WRITTEN_SLASH}))[0-9a-f]{43}(?![0-9a-f])`, 'gi');

/** The provider's may be one of the settings. */
const OF_SETTLEMENTS = new RegExp(`(settlements(?:\\\\{0,8}/|${WRITTEN_SLASH}))[\\w-]{22,128}(?![\\w-])`, 'gi');

/** What both are found by. For a test. */
export const PATTERNS = [CAPABILITY, OF_SETTLEMENTS];

/** A text for a person, without capabilities. */
export const withoutCapabilities = (text: string): string =>
  text.replaceAll(CAPABILITY, '(secret)').replaceAll(OF_SETTLEMENTS, '$1(secret)');

/** Of the form of a capability, and never one: a URL with it is still known as one of ours. */
const NO_CAPABILITY = '0'.repeat(43);
/** The account's own, which it is given by whoever administers it. */
const OF_ACCOUNT = new RegExp(`(?:settlements|webhooks)(?:/|${WRITTEN_SLASH})$`, 'i');
const LONGEST_BEFORE = 32;

/**
 * An answer of the service without the capabilities of the callback URLs that it repeats: what reads it, stores it or
 * shows it has none to hide. Every other byte stays.
 */
export function withoutCallbackCapabilities(bytes: Uint8Array): Uint8Array {
  // One character for each byte, whatever the bytes are.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const without = text.replaceAll(CAPABILITY, (capability: string, at: number) =>
    OF_ACCOUNT.test(text.slice(Math.max(0, at - LONGEST_BEFORE), at)) ? capability : NO_CAPABILITY,
  );
  return without === text ? bytes : Buffer.from(without, 'latin1');
}
