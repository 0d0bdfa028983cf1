import { describe, expect, it } from '@jest/globals';
import { ApplicationFailureCategory } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { endsFlow, retryLater, withFallback } from '../../activities/failures.js';

const thrownBy = (isLocal: boolean, error: Error) =>
  new MockActivityEnvironment({ isLocal })
    .run(() => withFallback(() => Promise.reject(error)))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );

describe('withFallback', () => {
  it('marks a retryable failure as benign within a workflow task, where the ordinary activity follows', async () => {
    expect(await thrownBy(true, retryLater('busy', 'later'))).toMatchObject({
      type: 'busy',
      category: ApplicationFailureCategory.BENIGN,
    });
  });

  it.each([
    ['of an ordinary activity', false, retryLater('busy', 'later')],
    ['that ends the flow', true, endsFlow('invalid_input', 'no')],
    ['that is a bug', true, new TypeError('bug')],
  ])('leaves a failure %s as it is', async (_, isLocal, error) => {
    expect(await thrownBy(isLocal, error)).toBe(error);
  });
});
