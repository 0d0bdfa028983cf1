import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { ended, inInbox, openDecisionBench, TIME_SCALE } from './bench.js';

describe('a withdrawal whose reference another request has used, of which Temporal knows nothing any more,', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({}));
  });
  afterAll(() => decisions.close());

  /** Its amount is the same, and its receiver is another one. */
  const other = (reference: string) => {
    const input = bankWithdrawal.input(reference) as { readonly bankDetails: object };
    const bankDetails = { ...input.bankDetails, accountNumber: '62999999999' };
    return { ...input, bankDetails, timeScale: TIME_SCALE };
  };

  test.each(['sending', 'answered', 'rejected'] as const)(
    'is not sent, and does not count as paid by the events of the other one: its claim is %s',
    async (phase) => {
      const reference = newReference('used');
      const flowId = `bank-withdrawal/${reference}`;
      const key = { account: ACCOUNT, operation: 'createBankWithdrawal', reference };
      const { claims } = decisions.store;
      await claims.reserve(key, { owner: 'earlier', flowId, fingerprint: 'of another request' });
      await claims.markSending(key, 'earlier');
      if (phase === 'answered')
        await claims.recordAnswer(key, { id: 'w-1', status: 'PENDING', referenceId: reference });
      if (phase === 'rejected') await claims.recordRejection(key, 'earlier', { httpStatus: 400, message: 'refused' });
      const body = { amount: 250.5, currency: 'ZAR', referenceId: reference };
      await inInbox(decisions.bench, flowId, 'SUCCESSFUL', { body });
      const view = await ended(await decisions.bench.startFlow('bank-withdrawal', reference, other(reference)));
      expect(view.outcome).toMatchObject({ state: 'failed', reason: 'other_request_same_reference' });
      expect(await decisions.executions('createBankWithdrawal', reference)).toBe(0);
    },
  );
});
