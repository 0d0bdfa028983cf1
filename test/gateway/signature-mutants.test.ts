import { describe, expect, it } from '@jest/globals';
import { answered, genuineOf, judged, mutantsOf, SIGNED_PROFILES } from './setup/mutants-of-profiles.js';

const COUNT = 2_000;
/** Prime, so that the twenty that go over HTTP are of twenty kinds. */
const EVERY = 97;

describe('fault 40: mutants of signed deliveries', () => {
  it.each(SIGNED_PROFILES)('2,000 read and verified as WEBHOOK_PROFILE=%s: accepted 0', (profile) => {
    const verdicts = judged(profile, mutantsOf(profile, COUNT));
    expect(verdicts).toHaveLength(COUNT);
    expect(new Set(verdicts)).toEqual(new Set(['invalid', 'no JSON']));
    expect(judged(profile, [genuineOf(profile)])).toEqual(['valid']);
  });

  it.each(SIGNED_PROFILES)('20 of them to a gateway with WEBHOOK_PROFILE=%s: stored 0, 500s 0', async (profile) => {
    const mutants = mutantsOf(profile, COUNT).filter((_, n) => n % EVERY === 0 && n < 20 * EVERY);
    const verdicts = judged(profile, mutants);
    const { statuses, rows, genuine } = await answered(profile, mutants);
    expect(statuses).toHaveLength(20);
    // Signatures are checked before anything is parsed as JSON: an invalid body is also refused as a wrong signature.
    expect(verdicts.filter((verdict) => verdict === 'valid')).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(rows).toBe(0);
    // The same sender, unchanged: what refused the others was their change.
    expect(genuine).toBe(200);
  });
});
