/** Where we asked the service to call back: it carries a capability, and is nobody else's business. */
const OWN_CALLBACK = /^https?:\/\/[^/]+\/(?:.*\/)?callbacks\/[a-z-]+\/[A-Za-z0-9._:-]+\/[0-9a-f]{43}$/;

/** Whether a text of the service may repeat such a URL; a quick look before anything is parsed. */
export const mayHoldOwnCallback = (text: Uint8Array): boolean => Buffer.from(text).includes('/callbacks/');

/** The service repeats what it was sent: in the place of our callback URL stands the caller's, or nothing. */
export function withoutOwnCallbacks(value: unknown, instead?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutOwnCallbacks(item, instead));
  // A number that JavaScript cannot hold is an object of its own kind.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, inner]) => {
      if (typeof inner !== 'string' || !OWN_CALLBACK.test(inner))
        return [[member, withoutOwnCallbacks(inner, instead)]];
      return instead === undefined ? [] : [[member, instead]];
    }),
  );
}
