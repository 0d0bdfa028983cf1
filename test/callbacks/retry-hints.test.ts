import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from '@jest/globals';
import { createCallbackActivities } from '../../activities/deliver-callback.js';
import type { ActivityDeps } from '../../activities/index.js';
import type { Notification } from '../../src/protocol/callbacks.js';

describe('a receiver that answers with Retry-After', () => {
  /** Until the next attempt, ms, after that one was answered 503. */
  const pauseAfter = async (attempt: number, retryAfter: string): Promise<number> => {
    const send = () => Promise.resolve({ httpStatus: 503, retryAfter });
    const store = { audit: { ownersOf: () => Promise.resolve(new Map()) } };
    const callbacks = { send, problemOf: () => undefined };
    const deps = { callbacks, store, monotonicMs: () => 0 } as unknown as ActivityDeps;
    const notification = {
      id: 'msg_1',
      change: { timestamp: '2026-01-01T00:00:00Z' },
      skipped: 0,
    } as unknown as Notification;
    const target = { flowId: 'f/1', url: 'https://shop.example/hook', timeScale: 1, notification, triedForMs: 1e12 };
    const activities = createCallbackActivities(deps);
    const failure: unknown = await new MockActivityEnvironment({ attempt })
      .run(() => activities.deliverCallback(target))
      .catch((error: unknown) => error);
    if (!(failure instanceof ApplicationFailure)) throw new Error('it was delivered', { cause: failure });
    return Number(failure.nextRetryDelay);
  };

  it.each(['0', '0.5', 'Wed, 21 Oct 2015 07:28:00 GMT'])('is not asked more often for it: %s', async (hint) => {
    const pauses = await Promise.all([1, 2, 3, 12, 40].map((attempt) => pauseAfter(attempt, hint)));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 3_600_000, 3_600_000]);
  });

  it('is left alone for as long as it asks, up to an hour', async () => {
    expect(await pauseAfter(1, '120')).toBe(120_000);
    expect(await pauseAfter(1, '86400')).toBe(3_600_000);
  });

  it.each(['Sun, 28 Nov 2100 00:00:00 GMT', 'Sunday, 28-Nov-70 00:00:00 GMT', 'Sun Nov 28 00:00:00 2100'])(
    'may say it as a date of HTTP: %s',
    async (hint) => {
      expect(await pauseAfter(1, hint)).toBe(3_600_000);
    },
  );
});
