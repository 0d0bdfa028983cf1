import type { SignatureProfile } from './signature-profile.js';

/**
 * Whichever signature comes. Each profile has a header of its own; where several come, one that is wrong spoils the rest.
 * A request with none is `absent`: then the capability in its URL has to do.
 */
export function createAnySignature(profiles: readonly SignatureProfile[]): SignatureProfile {
  return {
    name: 'auto',
    verify(request) {
      const verdicts = profiles.map((profile) => profile.verify(request));
      if (verdicts.includes('invalid')) return 'invalid';
      return verdicts.includes('valid') ? 'valid' : 'absent';
    },
  };
}
