import { describe, expect, it } from '@jest/globals';
import { CARD_LIFE_MS } from '../../src/protocol/task-queues.js';
import { defaultDeadlineSeconds } from '../../src/protocol/vocabulary.js';
import * as policies from '../../workflows/engine/policies.js';

const {
  CALLBACK,
  CARD_SUBMIT,
  CHECK,
  LAST_LOOK,
  POLL,
  QUOTED_SUBMIT,
  READ,
  STORE,
  SUBMIT,
  STORE_PATIENCE_MS,
  submitPolicy,
} = policies;

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

describe('the limits of a single activity', () => {
  it('notice a worker that died long before anything else is given up', () => {
    for (const policy of [READ, POLL, LAST_LOOK, SUBMIT, QUOTED_SUBMIT, CARD_SUBMIT, STORE]) {
      expect(policy.heartbeatTimeout).toBe(10 * SECOND);
      expect(Number(policy.startToCloseTimeout)).toBeGreaterThan(10 * SECOND);
    }
    expect(Number(STORE.startToCloseTimeout)).toBeLessThan(STORE_PATIENCE_MS);
  });

  it('leave a money POST two minutes, and reads and polls two hours, since these are several calls', () => {
    expect(SUBMIT.startToCloseTimeout).toBe(2 * MINUTE);
    for (const policy of [READ, POLL, LAST_LOOK]) expect(policy.startToCloseTimeout).toBe(2 * HOUR);
  });

  it('give the check at the start two seconds, and the receiver of a callback twenty', () => {
    expect(CHECK).toEqual({ startToCloseTimeout: 2 * SECOND, retry: { maximumAttempts: 1 } });
    expect(CALLBACK.startToCloseTimeout).toBe(20 * SECOND);
    expect(STORE.startToCloseTimeout).toBe(20 * SECOND);
  });

  it('let a quoted deposit wait no longer than 5 s for a worker, and send a card in one attempt', () => {
    expect(QUOTED_SUBMIT.scheduleToStartTimeout).toBe(5 * SECOND);
    expect(policies.QUOTE_MARGIN_MS).toBe(8 * SECOND);
    expect(CARD_SUBMIT.retry?.maximumAttempts).toBe(1);
    expect(policies.CARD_WORKER_START_MS).toBe(5 * SECOND);
    expect(policies.CARD_WORKER_START_MS).toBeLessThan(CARD_LIFE_MS);
  });

  it('let a newer callback wait until the attempt in progress has ended', () => {
    expect(CALLBACK.cancellationType).toBe('WAIT_CANCELLATION_COMPLETED');
  });
});

describe('the retries of activities', () => {
  it('grow slower, up to a most that fits what they are for', () => {
    const most = [READ, POLL, SUBMIT, STORE, CALLBACK].map(({ retry }) => [retry?.initialInterval, retry?.maximumInterval]); // prettier-ignore
    expect(most).toEqual([
      [SECOND, MINUTE],
      [2 * SECOND, 5 * MINUTE],
      [SECOND, 30 * SECOND],
      [SECOND, MINUTE],
      [5 * SECOND, HOUR],
    ]);
    expect(policies.UNTAKEN_PAUSE_MS).toBe(5 * SECOND);
  });
});

describe("the limits of a money POST that its flow's windows give", () => {
  const waits = { ...SUBMIT, scheduleToStartTimeout: 5 * SECOND };

  it('replace those of the policy, each for itself', () => {
    expect(submitPolicy(waits, { settleMs: 1, attemptMs: 7 })).toEqual({ ...waits, startToCloseTimeout: 7 });
    expect(submitPolicy(waits, { settleMs: 1, heartbeatMs: 8 })).toEqual({ ...waits, heartbeatTimeout: 8 });
    expect(submitPolicy(waits, { settleMs: 1, startWithinMs: 9 })).toEqual({ ...waits, scheduleToStartTimeout: 9 });
  });

  it('put no limit on the wait for a worker if the policy has none', () => {
    expect(submitPolicy(SUBMIT, { settleMs: 1, startWithinMs: 9 })).toEqual(SUBMIT);
    expect(submitPolicy(SUBMIT, { settleMs: 1 })).toEqual(SUBMIT);
  });
});

describe('a flow waits', () => {
  it.each([
    ['for a store that is away, before it goes on', policies.STORE_PATIENCE_MS, MINUTE],
    ['until an answer that it has is written', policies.RECORD_PATIENCE_MS, 10 * MINUTE],
    ['for any answer about an unknown POST', policies.SETTLE_PATIENCE_MS, 2 * MINUTE],
    ['until it asks a person about a report in vain', policies.REPORT_PATIENCE_MS, 15 * MINUTE],
    ["for the service's refund without a time", policies.REFUND_WAIT_MS, 15 * MINUTE],
    ["for the service's refund with an unreadable time", policies.UNREAD_REFUND_LIFE_MS, DAY],
    ["for the service's refund at most", policies.LONGEST_REFUND_LIFE_MS, 365 * DAY],
    ['until a refund of ours is confirmed', policies.REFUND_CONFIRM_MS, HOUR],
    ['to check an order to pay', policies.PAY_ORDER_PATIENCE_MS, 30 * DAY],
    ['for a record while a person is asked', policies.LOOK_WHILE_PARKED_MS, 30 * DAY],
    ['between two reminders', policies.REMINDER_MS, DAY],
    ['between two lookups of a KYC record', policies.KYC_LOOK_EVERY_MS, 15 * MINUTE],
    ['before the first lookup of a crypto send', policies.CRYPTO_SEND_FIRST_LOOK_MS, 2 * SECOND],
    ['before the first lookup of an onramp', policies.ONRAMP_FIRST_LOOK_MS, 45 * SECOND],
    ['before the first lookup of an offramp', policies.OFFRAMP_FIRST_LOOK_MS, 30 * SECOND],
    ['before the first lookup of an invoice', policies.INVOICE_PAYMENT_FIRST_LOOK_MS, 30 * SECOND],
    ['until a callback counts as undelivered', policies.CALLBACK_TRIED_FOR_MS, 3 * DAY],
    ['for something to call back about', policies.CALLBACK_IDLE_MS, HOUR],
    ['for a person to send a callback again', policies.UNDELIVERED_KEPT_MS, 90 * DAY],
  ])('%s: %d ms', (_what, ms, expected) => {
    expect(ms).toBe(expected);
  });

  it('for an order to pay no shorter than its deadline, since Temporal would repeat a refusal for ever', () => {
    expect(policies.PAY_ORDER_PATIENCE_MS).toBeGreaterThan(defaultDeadlineSeconds('invoice-payment') * SECOND);
  });
});
