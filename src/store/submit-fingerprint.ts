import { canonicalJson } from './canonical-json.js';

/** What tells one POST from another under the same claim: what its caller decided, under the store's own key. */
export function submitFingerprint(
  store: { mac(purpose: string, text: string): string },
  operation: string,
  decided: unknown,
): string {
  return store.mac(`submit ${operation}`, canonicalJson(decided));
}
