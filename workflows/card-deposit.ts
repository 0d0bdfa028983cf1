import { CHECKOUT_WORDS } from '../src/protocol/statuses.js';
import { CARD_LIFE_MS } from '../src/protocol/task-queues.js';
import { CARD_PAUSE_MS, FAILURE_GRACE_MS, LIVE_FIRST_LOOK_MS } from './engine/policies.js';
import type { Plan, Rule, View } from './engine/plan.js';
import { stop } from './engine/situation.js';

const RULES: readonly Rule[] = [
  {
    name: 'card-gone',
    says: 'The card is gone, or will be before the next attempt: the claims are voided, and only then nothing was charged.',
    when: (v) => isUnsent(v) && isGone(v),
    follows: (v) => stop(v, 'card-gone'),
  },
  {
    name: 'card-pause',
    says: 'An attempt was proven not to have left: the next one follows a pause, while the card is kept.',
    when: (v) => isUnsent(v) && v.request.answer === 'not-sent' && v.nowMs < nextAtMs(v),
    follows: (v) => ({ steps: [], wakeAtMs: Math.min(nextAtMs(v), v.known.deadlineAtMs) }),
  },
];

/**
 * A card deposit: send it with the card that one gateway keeps for a minute → the customer passes 3-D Secure at the
 * answer's `redirect_url` → paid. The interface has no lookup: trusted events report its end, or it parks at its
 * deadline. The live service has one, which may not know all of them.
 */
export const cardDepositPlan: Plan = {
  kind: 'card-deposit',
  noun: 'the card deposit',
  words: CHECKOUT_WORDS,
  firstLookMs: LIVE_FIRST_LOOK_MS,
  graceMs: FAILURE_GRACE_MS,
  requests: [
    { name: 'deposit', operation: 'createCardDeposit', lookUp: 'live', provenByEvents: true, byGateway: true },
  ],
  rules: RULES,
};

const isUnsent = (v: View): boolean => !v.is.maybeSent && !v.is.reported && !v.is.sending;

/** A card is kept for a minute of real time, whatever the flow's own waits are scaled by. */
const isGone = (v: View): boolean =>
  v.request.answer === 'gone' ||
  (v.request.answer === 'not-sent' && nextAtMs(v) >= v.request.firstSendAtMs + CARD_LIFE_MS);

/** Each pause is twice as long as the one before. */
function nextAtMs({ request: { notSent }, known: { timeScale } }: View): number {
  if (notSent === null) return 0;
  const pauseMs = Math.max(notSent.afterMs, CARD_PAUSE_MS * 2 ** (notSent.times - 1));
  return notSent.atMs + Math.max(1, Math.ceil(pauseMs * timeScale));
}
