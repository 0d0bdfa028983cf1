/** What a profile looks at: raw bytes, and every value of a header, since two of them are a trick. */
export interface SignedRequest {
  readonly raw: Uint8Array;
  header(name: string): readonly string[];
}

/**
 * `absent`: nothing that this profile could check. `stale`: genuine once, and of another time, so that it may be a replay:
 * kept without proof. `invalid` is never stored.
 */
export type SignatureVerdict = 'valid' | 'stale' | 'invalid' | 'absent';

/** One way of signing webhooks. A new one is a file next to `standard-webhooks.ts` and a line in `profiles.ts`. */
export interface SignatureProfile {
  readonly name: string;
  verify(request: SignedRequest): SignatureVerdict;
}

export interface ProfileOptions {
  /** Any of them may have signed: two are live while one takes the other's place. */
  readonly secrets: readonly string[];
  readonly nowMs: () => number;
}
