import type { SignatureProfile, SignatureVerdict } from './signature-profile.js';

const WORST_FIRST = ['invalid', 'stale', 'valid'] as const satisfies readonly SignatureVerdict[];

/**
 * Whichever signature comes. Each profile has a header of its own; where several come, one that is wrong spoils the rest.
 * A request with none is `absent`: then the capability in its URL has to do.
 */
export function createAnySignature(profiles: readonly SignatureProfile[]): SignatureProfile {
  return {
    name: 'auto',
    verify(request) {
      const verdicts = profiles.map((profile) => profile.verify(request));
      return WORST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'absent';
    },
  };
}
