import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import {
  elapsedMs,
  missingForMs,
  nextTurnMs,
  sendTimer,
  untilNextMiss,
  windowsOf,
  withHeartbeat,
} from '../../activities/timing.js';
import type { Clock } from '../../src/clock.js';

const SCHEDULED_MS = Date.UTC(2026, 0, 1);
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** An attempt of an activity, and the heartbeats that it sends. */
function attemptOf(info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {}) {
  const environment = new MockActivityEnvironment(info, { logger: silent });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  return { beats, run: <T>(work: () => T | Promise<T>) => environment.run(async () => work()) as Promise<T> };
}

/** A clock whose waits end when the test says so. */
function handMoved() {
  const waits: { readonly ms: number; readonly work: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after(ms, work) {
      const wait = { ms, work };
      waits.push(wait);
      return () => void waits.splice(waits.indexOf(wait), 1);
    },
  };
  return { clock, waits, pass: () => waits.shift()?.work() };
}

describe('the pause before the next turn of an activity', () => {
  const turn = (attempt: number, timeScale = 1, isParked?: boolean) =>
    attemptOf({ attempt }).run(() => nextTurnMs(timeScale, isParked));

  it('is 2 s, 5 s, 15 s, 1 min and 5 min, four times each, and the last for ever', async () => {
    const paces = [2_000, 5_000, 15_000, 60_000, 300_000];
    for (const [step, ms] of paces.entries()) {
      expect([await turn(4 * step + 1), await turn(4 * step + 4)]).toEqual([ms, ms]);
    }
    expect(await turn(500)).toBe(300_000);
  });

  it('is 15 s to 1 h while a person is asked', async () => {
    const paces = [15_000, 60_000, 300_000, 900_000, 3_600_000];
    for (const [step, ms] of paces.entries()) {
      expect([await turn(4 * step + 1, 1, true), await turn(4 * step + 4, 1, true)]).toEqual([ms, ms]);
    }
    expect(await turn(500, 1, true)).toBe(3_600_000);
    expect(await turn(1, 1, false)).toBe(2_000);
  });

  it('is scaled by the time scale of the flow, and at least 20 ms', async () => {
    expect(await turn(1, 0.5)).toBe(1_000);
    expect(await turn(1, 0.000_1)).toBe(20);
  });

  it('after a miss is five seconds, scaled likewise', async () => {
    const { clock, waits } = handMoved();
    for (const scale of [1, 0.5, 0.000_1]) void untilNextMiss({ clock }, scale);
    expect(waits.map(({ ms }) => ms)).toEqual([5_000, 2_500, 20]);
  });
});

describe('the time of an activity, by the clock of the Temporal server,', () => {
  const after = (ms: number, heartbeatDetails?: unknown) =>
    attemptOf({
      scheduledTimestampMs: SCHEDULED_MS,
      currentAttemptScheduledTimestampMs: SCHEDULED_MS + ms,
      heartbeatDetails,
    });

  it('runs from its first attempt (elapsedMs)', async () => {
    expect(await after(0).run(elapsedMs)).toBe(0);
    expect(await after(1_234).run(elapsedMs)).toBe(1_234);
  });

  it('runs from the first miss of a record, over several attempts (missingForMs)', async () => {
    const first = after(100);
    expect(await first.run(() => missingForMs(true))).toBe(0);
    expect(first.beats).toEqual([{ missingSinceMs: SCHEDULED_MS + 100 }]);
    const next = after(900, first.beats[0]);
    expect(await next.run(() => missingForMs(true))).toBe(800);
    expect(next.beats).toEqual(first.beats);
  });

  it('begins anew after a lookup that was no miss (missingForMs)', async () => {
    const outage = after(900, { missingSinceMs: SCHEDULED_MS + 100 });
    expect(await outage.run(() => missingForMs(false))).toBe(0);
    expect(outage.beats).toEqual([{}]);
    const again = after(1_000, outage.beats[0]);
    expect(await again.run(() => missingForMs(true))).toBe(0);
    expect(again.beats).toEqual([{ missingSinceMs: SCHEDULED_MS + 1_000 }]);
  });
});

describe('withHeartbeat', () => {
  it('beats four times in the heartbeat timeout, with the details of the attempt before', async () => {
    const { clock, waits, pass } = handMoved();
    const { beats, run } = attemptOf({ heartbeatTimeoutMs: 8_000, heartbeatDetails: 'earlier' });
    const result = await run(() =>
      withHeartbeat(clock, async () => {
        expect(waits.map(({ ms }) => ms)).toEqual([2_000]);
        pass();
        pass();
        return 'done';
      }),
    );
    expect(result).toBe('done');
    // What the attempt before had found out is kept.
    expect(beats).toEqual(['earlier', 'earlier']);
    expect(waits).toEqual([]);
  });

  it('beats with what this attempt has noted of a missing record', async () => {
    const { clock, pass } = handMoved();
    const { beats, run } = attemptOf({
      heartbeatTimeoutMs: 8_000,
      currentAttemptScheduledTimestampMs: SCHEDULED_MS,
      heartbeatDetails: {},
    });
    await run(() =>
      withHeartbeat(clock, async () => {
        missingForMs(true);
        pass();
      }),
    );
    const noted = { missingSinceMs: SCHEDULED_MS };
    expect(beats).toEqual([noted, noted]);
  });

  it('stops when its work fails, and does not beat without a heartbeat timeout', async () => {
    const { clock, waits } = handMoved();
    const failure = new Error('no');
    const failing = () => Promise.reject(failure);
    await expect(attemptOf({ heartbeatTimeoutMs: 8_000 }).run(() => withHeartbeat(clock, failing))).rejects.toBe(
      failure,
    );
    expect(waits).toEqual([]);
    const { run } = attemptOf();
    expect(await run(() => withHeartbeat(clock, async () => waits.length))).toBe(0);
  });
});

describe('windowsOf', () => {
  const windows = (more: Partial<ActivityDeps>) => windowsOf({ serviceIsOnLoopback: false, ...more } as ActivityDeps);

  it("derives the windows from the service's timeout, which an attempt outlasts", () => {
    expect(windows({ serviceTimeoutMs: 30_000 })).toEqual({ settleMs: 90_000, postMs: 30_000, attemptMs: 120_000 });
    expect(windows({ serviceTimeoutMs: 90_000 })).toEqual({ settleMs: 150_000, postMs: 90_000, attemptMs: 120_000 });
    expect(windows({ serviceTimeoutMs: 90_001 }).attemptMs).toBe(120_001);
  });

  it('takes other limits only with a service on loopback', () => {
    const limits = { heartbeatMs: 1, startWithinMs: 2 };
    expect(windows({ serviceTimeoutMs: 30_000, limits })).not.toHaveProperty('heartbeatMs');
    expect(windows({ serviceTimeoutMs: 30_000, limits, serviceIsOnLoopback: true })).toMatchObject(limits);
  });
});

describe('sendTimer, from a claim to the first byte of its POST,', () => {
  it.each(['a clock that never jumps', 'the clock of the day, for a machine that slept'])(
    'is over after 30 s by %s',
    (which) => {
      const [isMonotonic] = [which.startsWith('a clock')];
      // Both have run for long before.
      let ms = 1_000_000;
      const clock = { nowMs: () => (isMonotonic ? 5_000_000 : 5_000_000 + ms) } as Clock;
      const isInTime = sendTimer({ monotonicMs: () => (isMonotonic ? ms : 0), clock } as unknown as ActivityDeps);
      expect(isInTime()).toBe(true);
      ms += 29_999;
      expect(isInTime()).toBe(true);
      ms += 1;
      expect(isInTime()).toBe(false);
    },
  );

  it('is over after a shorter time that is given', () => {
    let ms = 0;
    const deps = { monotonicMs: () => ms, clock: { nowMs: () => ms } } as unknown as ActivityDeps;
    const isInTime = sendTimer(deps, 10);
    ms = 9;
    expect(isInTime()).toBe(true);
    ms = 10;
    expect(isInTime()).toBe(false);
  });
});
