import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { Windows } from '../../activities/types.js';
import { CALLBACK_PAUSE_MOST_MS, CALLBACK_PAUSE_MS } from '../../src/protocol/callbacks.js';

/** Every timeout, retry and cadence of the flows, by name. Durations are milliseconds before `timeScale`. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * One try may be several calls, each of which ends by its own timeout (`SERVICE_TIMEOUT`). A worker that dies is noticed
 * by its heartbeat, soon; this bounds what no call can last.
 */
const CALLS = { startToCloseTimeout: 2 * 60 * MINUTE, heartbeatTimeout: 10 * SECOND } as const;

/** Reads and quotes: repeat at will, slower and slower. The flow's deadline ends them. */
export const READ: ActivityOptions = {
  ...CALLS,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/** A check of the input, with a first quote, on the worker that has the flow at hand: at once or not at all. */
export const CHECK: LocalActivityOptions = { startToCloseTimeout: 2 * SECOND, retry: { maximumAttempts: 1 } };

/**
 * A money POST under its claim. A new attempt is safe, because the claim decides whether it may send; the heartbeat
 * lets another worker ask soon after this one died.
 */
export const SUBMIT: ActivityOptions = {
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 30 * SECOND },
};

/** The policy of a money POST with the limits of its flow's windows: flows of earlier versions have none. */
export function submitPolicy(policy: ActivityOptions, windows: Windows): ActivityOptions {
  const { attemptMs, heartbeatMs, startWithinMs } = windows;
  return {
    ...policy,
    ...(attemptMs === undefined ? {} : { startToCloseTimeout: attemptMs }),
    ...(heartbeatMs === undefined ? {} : { heartbeatTimeout: heartbeatMs }),
    ...(startWithinMs === undefined || policy.scheduleToStartTimeout === undefined
      ? {}
      : { scheduleToStartTimeout: startWithinMs }),
  };
}

/** How long a gateway keeps a card, and how long an attempt to send it may wait for that gateway. */
export const CARD_LIFE_MS = MINUTE;

/** One attempt: a card is there once. What was proven not sent is tried again by the flow, while the card lives. */
export const CARD_SUBMIT: ActivityOptions = {
  ...SUBMIT,
  retry: { ...SUBMIT.retry, maximumAttempts: 1 },
};

/** However small `timeScale` is: a gateway's worker may only start with its first card. */
export const CARD_WORKER_START_MS = 5 * SECOND;

/** The first pause after an attempt that was proven not sent; each further one is twice as long. */
export const CARD_PAUSE_MS = SECOND;

/**
 * A quoted deposit that waits longer than this for a worker is not started: its quote would be too old. It goes before what
 * can wait.
 */
export const QUOTED_SUBMIT: ActivityOptions = {
  ...SUBMIT,
  scheduleToStartTimeout: 5 * SECOND,
  priority: { priorityKey: 1 },
};

/** Before a deposit that no worker took is quoted again; each further pause is twice as long, up to the most. */
export const UNTAKEN_PAUSE_MS = 5 * SECOND;
export const UNTAKEN_PAUSE_MOST_MS = MINUTE;

/** Our own store only. */
export const STORE: ActivityOptions = {
  startToCloseTimeout: 20 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/**
 * Polling is one activity that the server retries; each failed try names the delay to the next one, so that an hour of
 * polling adds nothing to the history. Never a schedule-to-close: it would end polling one interval early.
 */
export const POLL: ActivityOptions = {
  ...CALLS,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
};

/** A flow past its deadline tries to void the claim of a submit that goes on; each pause is twice as long. */
export const STOP_AGAIN_MS = 20 * SECOND;

/** So often: longer than one attempt lasts. Then its outcome counts as unknown. */
export const STOP_TRIES = 3;

/** How long our own store may be away until the flow goes on without it. */
export const STORE_PATIENCE_MS = MINUTE;

/** How long an answer that the flow has may take to be written to its claim. */
export const RECORD_PATIENCE_MS = 10 * MINUTE;

/** How long the service and the store together may leave a question without any answer. */
export const SETTLE_PATIENCE_MS = 2 * MINUTE;

/** What is left out of a quote's life: the wait for a worker (5 s), the claim, and the way to the service. */
export const QUOTE_MARGIN_MS = 8 * SECOND;

/** How often a deposit may be quoted again before the flow gives up with nothing moved. */
export const MAX_REQUOTES = 3;

/** How long a settlement is reported in vain before a person is asked; it is reported on meanwhile. */
export const REPORT_PATIENCE_MS = 15 * MINUTE;

/** How long the service's own refund is awaited where its answer gave no `expires_at`. */
export const REFUND_WAIT_MS = 15 * MINUTE;

/** How long an accepted refund may take to be confirmed on chain before a person is asked. */
export const REFUND_CONFIRM_MS = 60 * MINUTE;

/** A record that proves nothing yet is looked at so long while a person is asked. */
export const LOOK_WHILE_PARKED_MS = 30 * 24 * 60 * MINUTE;

/** How often a parked flow reminds. */
export const REMINDER_MS = 24 * 60 * MINUTE;

/** Signals of one run after which the flow continues as new, well before Temporal's own limits. */
export const MAX_SIGNALS_PER_RUN = 180;

/**
 * Updates that one run accepts; `resolve` alone is accepted beyond. A parked flow cannot continue as new, and Temporal takes 2,000
 * of a run: the rest is kept for what a person decides.
 */
export const MAX_UPDATES_PER_RUN = 500;

/** Timeline entries that are kept; the oldest between the first and the last ones are dropped. */
export const MAX_TIMELINE = 120;

/** The look at a deadline: bounded, so that a service that is down does not hide that a person is needed. */
export const LAST_LOOK: ActivityOptions = { ...READ, retry: { ...READ.retry, maximumAttempts: 5 } };

/*
 * How long each kind waits for events before its first status lookup; after it the cadence of polling (2 s, 5 s, 15 s, 1 min,
 * 5 min) applies, so that a flow hardly polls where webhooks arrive.
 */
/** Nothing to look up: only events report. */
export const NO_LOOK_MS = 0;

/** A failure that only events report: how long one that contradicts it is awaited, since they come in any order. */
export const FAILURE_GRACE_MS = MINUTE;

/** A KYC record is looked at once, since it may be decided already; then this seldom, while no event says anything. */
export const KYC_LOOK_EVERY_MS = 15 * MINUTE;

/** No events come for a crypto send: look soon. */
export const CRYPTO_SEND_FIRST_LOOK_MS = 2 * SECOND;
/** A customer takes a minute or more to pay, and callbacks report it. */
export const ONRAMP_FIRST_LOOK_MS = 45 * SECOND;
/** The crypto comes in and the fiat goes out within minutes, and callbacks report both. */
export const OFFRAMP_FIRST_LOOK_MS = 30 * SECOND;
/** The customer answers a prompt on the phone first, and the account's webhook reports it. */
export const INVOICE_PAYMENT_FIRST_LOOK_MS = 30 * SECOND;

/**
 * So long a callback is tried again before it is listed as undelivered. A newer change begins anew. Handed to the activity,
 * and no schedule-to-close: that would count days without a worker, in which nothing was tried.
 */
export const CALLBACK_TRIED_FOR_MS = 3 * 24 * 60 * MINUTE;

/**
 * A callback: soon again, then slower and slower. A newer one takes its place only after the attempt under way has ended,
 * since the caller must learn of changes in their order.
 */
export const CALLBACK: ActivityOptions = {
  startToCloseTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: CALLBACK_PAUSE_MS, backoffCoefficient: 2, maximumInterval: CALLBACK_PAUSE_MOST_MS },
};

/** A delivery without anything to do ends after this; the next change starts another one. */
export const CALLBACK_IDLE_MS = 60 * MINUTE;

/** So long an undelivered callback is listed and can be sent again, as long as bodies of events are kept. */
export const UNDELIVERED_KEPT_MS = 90 * 24 * 60 * MINUTE;

/** Skipped changes that a callback names. */
export const MAX_SKIPPED = 50;
