import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityDeps } from '../../activities/index.js';
import { RejectedError, type ServiceClient } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';

/** What a test of the deciding code replaces: the service, and the clocks. */
export type Replaced = Partial<Omit<ActivityDeps, 'service'>> & {
  readonly service?: Readonly<Record<string, (argument: never) => Promise<unknown>>>;
};

/** The dependencies of activities over a real store; what is called of the service and was not given fails the test. */
export function depsOver(store: Store, { service = {}, ...replaced }: Replaced = {}): ActivityDeps {
  let owners = 0;
  return {
    store,
    service: new Proxy(service, {
      get(given, name) {
        return given[String(name)] ?? (() => Promise.reject(new Error(`${String(name)} was called`)));
      },
    }) as unknown as ServiceClient,
    account: 'default',
    publicUrl: 'http://127.0.0.1:9',
    serviceTimeoutMs: 8_000,
    serviceIsOnLoopback: true,
    allowPlaintext: false,
    repeatSettingOf: () => 'unknown',
    newOwner: () => `owner-${(owners += 1)}`,
    monotonicMs: () => performance.now(),
    log: { info() {}, warn() {}, error() {} },
    ...replaced,
  };
}

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** When an activity that runs here was scheduled. */
export const SCHEDULED_AT_MS = Date.UTC(2026, 0, 1);

/**
 * Runs an activity as the SDK does, at a moment after it was first scheduled; its lookups have found nothing since, or
 * since a later moment.
 */
export function asActivity<T>(run: () => Promise<T>, afterMs = 0, missingAfterMs = 0): Promise<T> {
  const scheduledTimestampMs = SCHEDULED_AT_MS;
  const info = {
    scheduledTimestampMs,
    currentAttemptScheduledTimestampMs: scheduledTimestampMs + afterMs,
    heartbeatDetails: { missingSinceMs: scheduledTimestampMs + missingAfterMs },
  };
  return new MockActivityEnvironment(info, { logger: silent }).run(run) as Promise<T>;
}

/** A body that `sendCrypto` accepts: a claim's request is checked before it. */
export const sendRequest = (referenceId: string) => ({
  receiverAddress: '0x1111111111111111111111111111111111111111',
  chain: 'CELO',
  token: 'USDC',
  cryptoAmount: 7.5,
  referenceId,
});

/** What the service refuses; the members differ from those of a plain 400. */
export const refusal = (more: Partial<ConstructorParameters<typeof RejectedError>[1]> = {}): RejectedError =>
  new RejectedError('sendCrypto', {
    httpStatus: 400,
    message: 'no',
    fields: [],
    isRateExpired: false,
    isAboutReference: false,
    ...more,
  });

/** A lookup that shows that the service has no record. */
export const missing = () => Promise.reject(refusal({ httpStatus: 404, saysNoRecord: true }));

/** A lookup that is refused, which shows nothing. */
export const refuses = () => Promise.reject(refusal({ httpStatus: 403 }));
