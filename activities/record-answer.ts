import type { ClaimKey, ClaimPhase } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';

/** Before an answer a claim is in `sending`, or is to be sent again. In any other phase its flow said, or may have said, that nothing moved. */
const ALARMING: readonly (ClaimPhase | 'absent')[] = ['void', 'rejected', 'absent'];

/**
 * The service executed it, whoever shows it. Loudly where that contradicts what the claim said until now: money moved
 * under a flow that may have ended as failed.
 */
export async function recordAnswer(
  { store, log }: Pick<ActivityDeps, 'store' | 'log'>,
  key: ClaimKey,
  flowId: string,
  answer: unknown,
): Promise<ClaimPhase | 'absent'> {
  const before = await store.claims.recordAnswer(key, answer);
  if (ALARMING.includes(before)) {
    const { operation, reference } = key;
    log.error({ alarm: 'late_answer_contradicts', flowId, operation, reference, claim: before }, 'ALARM');
  }
  return before;
}
