import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import { windowsOf } from '../../activities/timing.js';
import { QUOTED_SUBMIT, SUBMIT, submitPolicy } from '../../workflows/engine/policies.js';

const LIMITS = { heartbeatMs: 1_000, startWithinMs: 500 };
const deps = (more: Partial<ActivityDeps>) => ({ serviceIsOnLoopback: false, ...more }) as ActivityDeps;

describe('the limits of a money POST', () => {
  it.each([1_000, 30_000, 110_000, 600_000])(
    'give an attempt longer than the client with a timeout of %d ms',
    (serviceTimeoutMs) => {
      const policy = submitPolicy(
        SUBMIT,
        windowsOf(deps({ serviceTimeoutMs, serviceIsOnLoopback: true, limits: LIMITS })),
      );
      expect(Number(policy.startToCloseTimeout)).toBeGreaterThanOrEqual(serviceTimeoutMs + 30_000);
    },
  );

  it('are those of the policies with the default timeout, also if a test asks for shorter ones and the service is real', () => {
    const windows = windowsOf(deps({ serviceTimeoutMs: 30_000, limits: LIMITS }));
    expect(submitPolicy(QUOTED_SUBMIT, windows)).toEqual(QUOTED_SUBMIT);
    expect(submitPolicy(QUOTED_SUBMIT, { settleMs: 90_000 })).toEqual(QUOTED_SUBMIT);
  });

  it('are as short as a test asks if the service is on loopback', () => {
    const windows = windowsOf(deps({ serviceTimeoutMs: 30_000, serviceIsOnLoopback: true, limits: LIMITS }));
    expect(submitPolicy(QUOTED_SUBMIT, windows)).toMatchObject({
      heartbeatTimeout: 1_000,
      scheduleToStartTimeout: 500,
    });
    expect(submitPolicy(SUBMIT, windows)).not.toHaveProperty('scheduleToStartTimeout');
  });
});
