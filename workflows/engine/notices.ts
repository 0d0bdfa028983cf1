import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import { act } from './activities.js';
import { REMINDER_MS, STORE, STORE_PATIENCE_MS } from './policies.js';
import { showParked, showUnparked } from './search-attributes.js';
import { AT_LEAST_MS } from './waits.js';
import type { Question } from './known.js';

export interface Notices {
  /** A question is shown, or none any more. */
  show(question: Question | null): void;
  /** Nothing is being told: the flow may close. */
  idle(): boolean;
}

/** Tells people, in listings and from the store, that the flow is parked: at once, and once a day. */
export function createNotices(flowId: string, timeScale: number): Notices {
  let shown: { readonly sinceMs: number; readonly scope: CancellationScope } | null = null;
  let telling = 0;

  async function remind({ reason, actions, sinceMs }: Question): Promise<void> {
    const { amount, currency } = workflowInfo().memo ?? {};
    const money = typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : {};
    const content = { flowId, since: new Date(sinceMs).toISOString(), reason, actions, ...money };
    for (;;) {
      // It waits for the store for as long as that is unavailable, and the flow does not wait for it.
      // Bounded by its question: it is cancelled with it.
      const notifying = act(STORE, 'Notify that it is parked', timeScale).notifyParked(content);
      notifying.catch(() => undefined);
      // Bounded by its question: it ends with it.
      await sleep(Math.max(1, Math.ceil(REMINDER_MS * timeScale)), { summary: 'Remind that it is parked' });
    }
  }

  async function goesOn(sinceMs: number): Promise<void> {
    telling += 1;
    const patience = { scheduleToCloseTimeout: Math.max(AT_LEAST_MS, Math.ceil(STORE_PATIENCE_MS * timeScale)) };
    const order = { flowId, since: new Date(sinceMs).toISOString() };
    // Bounded by its patience.
    await act({ ...STORE, ...patience }, 'Notify that it goes on', timeScale)
      .notifyUnparked(order)
      .catch(() => undefined);
    telling -= 1;
  }

  return {
    show(question) {
      const before = shown;
      if (before !== null) {
        before.scope.cancel();
        void CancellationScope.nonCancellable(() => goesOn(before.sinceMs));
      }
      shown = null;
      if (question === null) return showUnparked();
      showParked(question);
      const scope = new CancellationScope({ cancellable: true });
      shown = { sinceMs: question.sinceMs, scope };
      scope.run(() => remind(question)).catch(() => undefined);
    },
    idle: () => telling === 0,
  };
}
