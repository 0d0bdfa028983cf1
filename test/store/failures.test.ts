import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it } from '@jest/globals';
import { endsFlow, notYet, readFailure, reading, retryLater, storing, unmatched } from '../../activities/failures.js';
import {
  ContractBrokenError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
} from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';

const limited = new RateLimitedError('getCryptoSend', 1_500);
const refused = new RejectedError('getCryptoSend', {
  httpStatus: 403,
  fields: [],
  isRateExpired: false,
  isAboutReference: false,
});

describe('the failure that Temporal gets for an error', () => {
  it.each<[string, Error]>([
    ['rate_limited', limited],
    ['not_sent', new NotSentError('getCryptoSend', 'refused')],
    ['service_unavailable', new ServiceUnavailableError('getCryptoSend', 'timeout')],
    ['contract_broken', new ContractBrokenError('getCryptoSend', ['status'])],
    ['store_unavailable', new StoreUnavailableError('SQLITE_IOERR')],
  ])('is %s, to be tried again, with the message of the error', (type, error) => {
    const failure = readFailure(error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type, message: error.message, nonRetryable: false });
    expect(failure).toMatchObject({ nextRetryDelay: error === limited ? 1_500 : undefined });
  });

  it('is invalid_input, for good, if the request itself is wrong', () => {
    const error = new InvalidRequestError('getCryptoSend', []);
    const ends = { type: 'invalid_input', message: error.message, nonRetryable: true };
    expect(readFailure(error)).toMatchObject(ends);
    expect(endsFlow('invalid_input', error.message)).toMatchObject(ends);
  });

  it('is the error itself if it is of any other class, or a failure already', () => {
    const bug = new TypeError('x is undefined');
    const decided = endsFlow('no', 'no');
    expect([readFailure(bug), readFailure(decided), readFailure(refused)]).toEqual([bug, decided, refused]);
  });

  it('has the delay that is asked for, at least 1 ms, since 0 means the pace of the policy', () => {
    expect([0, 0.2, 7.2].map((ms) => retryLater('x', 'y', ms).nextRetryDelay)).toEqual([1, 1, 8]);
    expect(retryLater('x', 'y').nextRetryDelay).toBeUndefined();
    expect([0, 0.2, 7.2].map((ms) => notYet('y', ms).nextRetryDelay)).toEqual([1, 1, 8]);
  });

  it('is benign, not_yet, if something is only not there yet', () => {
    expect(notYet('still PENDING', 5)).toMatchObject({
      type: 'not_yet',
      message: 'still PENDING',
      nonRetryable: false,
      category: ApplicationFailureCategory.BENIGN,
    });
  });

  it('is not_sent, to be tried again, while a webhook is to be matched', () => {
    expect(unmatched()).toMatchObject({ type: 'not_sent', nonRetryable: false });
  });
});

describe('an activity that reads from the service', () => {
  const failing = (thrown: Error) => reading(() => Promise.reject(thrown));

  it('returns what it read, or the refusal of the service', async () => {
    expect(await reading(async () => 7)).toBe(7);
    expect(await failing(refused)).toBe(refused);
  });

  it('throws the failure for Temporal of any other error', async () => {
    await expect(failing(limited)).rejects.toMatchObject({ type: 'rate_limited', nextRetryDelay: 1_500 });
    await expect(failing(new TypeError('bug'))).rejects.toThrow(TypeError);
  });
});

describe('an activity that writes to the store', () => {
  it('returns what it wrote, and fails as store_unavailable while the store is away', async () => {
    expect(await storing(async () => 7)).toBe(7);
    await expect(storing(() => Promise.reject(new StoreUnavailableError('SQLITE_IOERR')))).rejects.toMatchObject({
      type: 'store_unavailable',
      nonRetryable: false,
    });
  });
});
