import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { newReference } from '../harness/references.js';
import { inInbox, noted, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

/** It is proven to be the service's, names our reference, and may be about another object. */
const OF_A_DEPOSIT = { body: { event: 'transaction.deposit.status.updated' } };

describe('a first send before which a webhook came that may be of another object under its reference', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({}));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  test('is held back, as money is that cannot be told; a person is shown the webhook, and may order it', async () => {
    const reference = newReference('another-object');
    const { id } = await inInbox(decisions, `bank-withdrawal/${reference}`, 'COMPLETED', OF_A_DEPOSIT);
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    const { parked: question } = await parked(handle);
    expect(await decisions.executions('createBankWithdrawal', reference)).toBe(0);
    expect(question).toMatchObject({ reason: 'unknown_outcome', evidence: { claimed: [{ id, status: 'COMPLETED' }] } });
    expect(question?.actions).toContain('send-again');
    expect(await resolve(handle, 'send-again')).toEqual({ accepted: true });
    await noted(handle, 'accepted');
    expect(await decisions.executions('createBankWithdrawal', reference)).toBe(1);
    await handle.terminate();
  });
});
