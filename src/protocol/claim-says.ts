import type { ClaimState } from './claim-table.js';
import type { ClaimSays } from './decisions.js';

/** What a claim says to its flow: one that is reserved after a POST that may have been executed is another send, ordered. */
export function claimSays({ phase, sent }: ClaimState): ClaimSays {
  if (phase === 'absent') return 'free';
  return phase === 'reserved' && sent === 'unknown' ? 'ordered' : phase;
}
