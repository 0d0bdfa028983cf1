import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import { newReference } from '../harness/references.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { inInbox, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

describe('a webhook that the service signed, about another object under the reference of a withdrawal,', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let posts = 0;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      createBankWithdrawal: (body, options) => {
        posts += 1;
        if (posts === 1) return Promise.reject(new UnknownOutcomeError('createBankWithdrawal', 'timeout'));
        return service.createBankWithdrawal(body, options);
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  test('does not hold back what a person, who is shown it, orders to be sent again', async () => {
    const reference = newReference('row');
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 2_000_000 };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    await decisions.bench.pass(10_000);
    await parked(handle);
    await inInbox(decisions.bench, handle.workflowId, 'SUCCESSFUL', {
      body: { event: 'transaction.deposit.status.updated', data: { reference_id: reference, status: 'SUCCESSFUL' } },
    });
    await resolve(handle, 'send-again');
    await decisions.bench.pass(20_000);
    expect(posts).toBe(2);
  });
});
