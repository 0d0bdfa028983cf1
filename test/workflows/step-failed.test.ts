import { expect, test } from '@jest/globals';
import { InvalidRequestError } from '../../src/service-client/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack } from '../harness/stack.js';

test('a step that can never succeed, once money was sent, is not called a failure: a person decides how it ended', async () => {
  const bench = await openStack({ time: 'skipping' });
  // As if a later version of the contract no longer accepted a reference that an earlier one sent.
  const getCryptoSend = () => Promise.reject(new InvalidRequestError('getCryptoSend', []));
  Object.assign(bench.deps.service, { getCryptoSend });
  const reference = newReference('hopeless');
  const handle = await bench.startFlow('crypto-send', reference, {
    referenceId: reference,
    receiverAddress: '0x1111111111111111111111111111111111111111',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: '7.5',
    timeScale: 0.01,
  });
  const { view } = await untilFlow(handle, (report) => report.view.state !== 'running');
  expect(view.parked).toMatchObject({
    reason: 'step_failed',
    actions: ['mark-completed', 'mark-failed', 'mark-refunded'],
    evidence: { step: 'the lookup', code: 'cannot_be_asked' },
  });
  await handle.executeUpdate('resolve', { args: [{ action: 'mark-completed', note: 'it has it', actor: 'ada' }] });
  expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  await bench.close();
});
