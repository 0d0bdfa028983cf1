import type { ActivityDeps } from '../../activities/deps.js';
import type { Store } from '../../src/store/store.js';

let owners = 0;

/** What `submitUnderClaim` and its neighbours need, with a store and without a service. */
export function submitDeps(store: Store, more: Partial<ActivityDeps> = {}): ActivityDeps {
  return {
    service: {} as ActivityDeps['service'],
    store,
    account: 'default',
    publicUrl: 'http://127.0.0.1',
    serviceTimeoutMs: 1_000,
    serviceIsOnLoopback: true,
    allowPlaintext: true,
    repeatSettingOf: () => 'same-result',
    newOwner: () => `owner-${(owners += 1)}`,
    monotonicMs: () => 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    ...more,
  };
}
