/*
 * Our own URLs at which the service, its account and its provider report to us. Each ends in a capability: a party that has
 * a whole one can act as the service.
 */

/** In JSON slashes may be escaped, more than once; in a query they are percent-encoded. */
const SLASH = String.raw`(?:\\{0,8}(?:\/|\\u002[Ff])|%(?:25){0,4}2[Ff])`;
const CHARACTER = String.raw`(?:[\w.:-]|%(?:25){0,4}3[Aa])`;

/** Others write the searched text, so the pattern never looks further than a few hundred characters. */
export const OWN_PATH = new RegExp(
  `(${SLASH}(callbacks|settlements|webhooks)${SLASH}(?:${CHARACTER}{1,130}${SLASH}){0,2})` +
    String.raw`(?:[0-9a-f]{43}|(?<=settlements${SLASH})[\w-]{22,128})(?![\w-])`,
  'g',
);

/** Of the form of a capability, and never one: a URL with it is still known as one of ours. */
const NO_CAPABILITY = '0'.repeat(43);

/**
 * An answer of the service without the capabilities of the callback URLs that it repeats: what reads it, stores it or
 * shows it has none to hide. Every other byte stays.
 */
export function withoutCallbackCapabilities(bytes: Uint8Array): Uint8Array {
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!given.includes('callbacks')) return bytes;
  // One character for each byte, whatever the bytes are.
  const text = given.toString('latin1');
  const without = text.replaceAll(OWN_PATH, (url: string, path: string, sort: string) =>
    sort === 'callbacks' ? `${path}${NO_CAPABILITY}` : url,
  );
  return without === text ? bytes : Buffer.from(without, 'latin1');
}
