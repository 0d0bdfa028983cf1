import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { Windows } from '../../activities/types.js';
import { CALLBACK_PAUSE_MOST_MS, CALLBACK_PAUSE_MS } from '../../src/protocol/callbacks.js';

/** Every timeout, retry and cadence of the flows, by name. Durations are milliseconds before `timeScale`. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * One attempt may be several calls, each of which ends by its own timeout (`SERVICE_TIMEOUT`). The heartbeat soon shows
 * that a worker died; this limit is longer than any call can last.
 */
const CALLS = { startToCloseTimeout: 2 * 60 * MINUTE, heartbeatTimeout: 10 * SECOND } as const;

/** Reads and quotes: repeat at will, slower and slower. The flow's deadline ends them. */
export const READ: ActivityOptions = {
  ...CALLS,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/** A check of the input, with a first quote, on the worker that currently runs the flow: at once or not at all. */
export const CHECK: LocalActivityOptions = { startToCloseTimeout: 2 * SECOND, retry: { maximumAttempts: 1 } };

/**
 * A money POST under its claim. A new attempt is safe, because the claim decides whether it may send; the heartbeat
 * lets another worker take over soon after this one died.
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

/** One attempt: a card exists only once. The flow repeats a proven not-sent one while the card lives. */
export const CARD_SUBMIT: ActivityOptions = {
  ...SUBMIT,
  retry: { ...SUBMIT.retry, maximumAttempts: 1 },
};

/** One attempt: whether the service takes the same refund invoice twice it does not say. */
export const HAND_OVER: ActivityOptions = { ...SUBMIT, retry: { ...SUBMIT.retry, maximumAttempts: 1 } };

/** However small `timeScale` is: a gateway's worker may only start with its first card. */
export const CARD_WORKER_START_MS = 5 * SECOND;

/** The first pause after an attempt that was proven not sent; each further one is twice as long. */
export const CARD_PAUSE_MS = SECOND;

/**
 * A quoted deposit that waits longer than this for a worker is not started: its quote would be too old. It goes before
 * activities that can wait.
 */
export const QUOTED_SUBMIT: ActivityOptions = {
  ...SUBMIT,
  scheduleToStartTimeout: 5 * SECOND,
  priority: { priorityKey: 1 },
};

/**
 * Pause before a deposit that no worker took is quoted again; each further pause is twice as long, up to the maximum.
 */
export const UNTAKEN_PAUSE_MS = 5 * SECOND;
export const UNTAKEN_PAUSE_MOST_MS = MINUTE;

/** Only our own store. A worker that died is noticed before the flow's patience with the store ends. */
export const STORE: ActivityOptions = {
  startToCloseTimeout: 20 * SECOND,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
};

/**
 * Polling is one activity that the server retries; each failed attempt names the delay to the next one, so that an hour
 * of polling adds nothing to the history. Never a schedule-to-close: it would end polling one interval early.
 */
export const POLL: ActivityOptions = {
  ...CALLS,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
};

/** How long our own store may be unavailable until the flow continues without it. */
export const STORE_PATIENCE_MS = MINUTE;

/**
 * How long an order to pay waits until it can be checked and recorded: as long as its flow. A caller that repeats it sends
 * the same update again, and Temporal would return a stored refusal every time.
 */
export const PAY_ORDER_PATIENCE_MS = 30 * 24 * 60 * MINUTE;

/** How long the flow tries to write an answer that it has to its claim. */
export const RECORD_PATIENCE_MS = 10 * MINUTE;

/** How long the service and the store together may leave a question without any answer. */
export const SETTLE_PATIENCE_MS = 2 * MINUTE;

/** Subtracted from a quote's life: the wait for a worker (5 s), the claim, and the network time to the service. */
export const QUOTE_MARGIN_MS = 8 * SECOND;

/** How often a deposit may be quoted again before the flow ends with nothing moved. */
export const MAX_REQUOTES = 3;

/** How long a settlement is reported in vain before a person is asked; reporting continues meanwhile. */
export const REPORT_PATIENCE_MS = 15 * MINUTE;

/** How long to wait for the service's own refund if its answer gave no `expires_at`. */
export const REFUND_WAIT_MS = 15 * MINUTE;

/** The same if its `expires_at` cannot be computed with. */
export const UNREAD_REFUND_LIFE_MS = 24 * 60 * MINUTE;
/** A refund that the service announces for later than that is announced for ever. */
export const LONGEST_REFUND_LIFE_MS = 365 * 24 * 60 * MINUTE;

/** How long an accepted refund may take to be confirmed on chain before a person is asked. */
export const REFUND_CONFIRM_MS = 60 * MINUTE;

/** How long a record that proves nothing yet is looked up while a person is asked. */
export const LOOK_WHILE_PARKED_MS = 30 * 24 * 60 * MINUTE;

/** How often a parked flow reminds. */
export const REMINDER_MS = 24 * 60 * MINUTE;

/** Signals of one run after which the flow continues as new, well before Temporal's own limits. */
export const MAX_SIGNALS_PER_RUN = 180;

/**
 * Updates that one run accepts; after that only `resolve`. A parked flow cannot continue as new, and Temporal accepts
 * 2,000 per run: the rest is reserved for a person's decisions.
 */
export const MAX_UPDATES_PER_RUN = 500;

/** Timeline entries that are kept; the oldest between the first and the last ones are dropped. */
export const MAX_TIMELINE = 120;

/** The lookup at a deadline: bounded, so that a service that is down does not hide that a person is needed. */
export const LAST_LOOK: ActivityOptions = { ...READ, retry: { ...READ.retry, maximumAttempts: 5 } };

/*
 * How long each kind waits for events before its first status lookup; after that the cadence of polling (2 s, 5 s, 15
 * s, 1 min, 5 min) applies, so that a flow hardly polls if webhooks arrive.
 */
/** There is no lookup: only events report. */
export const NO_LOOK_MS = 0;

/** Callbacks report what only the live service can be asked about, and a customer or a bank takes a minute. */
export const LIVE_FIRST_LOOK_MS = MINUTE;

/**
 * For a failure that only events report: how long to wait for one that contradicts it, since they come in any order.
 */
export const FAILURE_GRACE_MS = MINUTE;

/** A KYC record is looked up at once, since it may be decided already; then at this interval, while no event comes. */
export const KYC_LOOK_EVERY_MS = 15 * MINUTE;

/** No events come for a crypto send, so the first lookup is early. */
export const CRYPTO_SEND_FIRST_LOOK_MS = 2 * SECOND;
/** A customer takes a minute or more to pay, and callbacks report it. */
export const ONRAMP_FIRST_LOOK_MS = 45 * SECOND;
/** The crypto comes in and the fiat goes out within minutes, and callbacks report both. */
export const OFFRAMP_FIRST_LOOK_MS = 30 * SECOND;
/** The customer answers a prompt on the phone first, and the account's webhook reports it. */
export const INVOICE_PAYMENT_FIRST_LOOK_MS = 30 * SECOND;

/**
 * How long a callback is tried before it is listed as undelivered. A newer change restarts this time. Passed to the
 * activity, and not as a schedule-to-close, which would count days without a worker, in which nothing was tried.
 */
export const CALLBACK_TRIED_FOR_MS = 3 * 24 * 60 * MINUTE;

/**
 * A callback: retried soon, then more and more slowly. A newer one replaces it only after the attempt in progress has
 * ended, since the caller must get changes in their order.
 */
export const CALLBACK: ActivityOptions = {
  startToCloseTimeout: 20 * SECOND,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: CALLBACK_PAUSE_MS, backoffCoefficient: 2, maximumInterval: CALLBACK_PAUSE_MOST_MS },
};

/** A delivery without anything to do ends after this; the next change starts another one. */
export const CALLBACK_IDLE_MS = 60 * MINUTE;

/** How long an undelivered callback is listed and can be sent again: as long as bodies of events are kept. */
export const UNDELIVERED_KEPT_MS = 90 * 24 * 60 * MINUTE;

/** Skipped changes that a callback names. */
export const MAX_SKIPPED = 50;
