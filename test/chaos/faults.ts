import { POST_OF } from '../end-to-end/reconcile/kinds.js';
import type { World } from './world.js';

/** Rates, of 1, of the operations that move money; the others meet the errors and the limits alone. */
const FAULTS = [
  { kind: 'error-before', rate: 0.03 },
  { kind: 'error-after', rate: 0.03 },
  { kind: 'answer-lost', rate: 0.05 },
  { kind: 'late-commit', rate: 0.02, delayMs: 1_500 },
  { kind: 'rate-limited', rate: 0.02, retryAfterSeconds: 1 },
  { kind: 'garbage', rate: 0.01, variant: 'truncated' },
] as const;

const ADVERSARY = {
  duplicate: 0.15,
  reorder: 0.2,
  delay: 0.2,
  delayMs: 3_000,
  early: 0.1,
  dropFirst: 0.1,
  mute: 0.05,
};
/** For each stream: a forgery for each genuine message. */
const FORGED = { forged: 1 };

/** What the service and the way of its webhooks do to us from now on. */
export async function injectFaults({ control }: World): Promise<void> {
  for (const fault of FAULTS) {
    for (const operation of Object.keys(POST_OF)) await control('POST', '/faults', { operation, ...fault });
    if (fault.kind === 'error-before' || fault.kind === 'rate-limited') {
      await control('POST', '/faults', { operation: '*', ...fault });
    }
  }
  await control('POST', '/adversary', { ...ADVERSARY, ...FORGED });
}

export async function healService({ control }: World): Promise<void> {
  await control('DELETE', '/faults');
  await control('POST', '/adversary', {});
}
