import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { kycCheckFlow, kycWord } from '../../src/flows/kyc-check.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';
import { endOf } from './by-events-setup.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What no other watched kind does: its words, its slow pace. The rest is in watched.test.ts. */
describe('a KYC check', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  const looked = (handle: WorkflowHandle) => noted(handle, 'status-looked-up');

  test.each([
    ['kyc-already-approved', 'completed', null],
    ['kyc-already-rejected', 'failed', 'kyc_rejected'],
  ])('of a record with %s before it began is %s at its first look', async (ending, state, reason) => {
    const kycId = newReference('decided');
    await bench.control('POST', '/scenarios', { reference: kycId, ending, operation: 'getKycStatus' });
    const { outcome } = await endOf(await bench.startFlow('kyc-check', kycId, { kycId }));
    expect(outcome).toMatchObject({ state, reason });
  });

  test('a record with an unreadable status is looked up as rarely as one without a change', async () => {
    const looks = { count: 0 };
    const { getKycStatus } = bench.deps.service;
    const strange: typeof getKycStatus = async (argument) => {
      looks.count += 1;
      const { kycStatus: _, ...record } = await getKycStatus(argument);
      return { ...record, status: 'en révision '.repeat(5) };
    };
    const own = await openStack({
      time: 'skipping',
      deps: { service: { ...bench.deps.service, getKycStatus: strange } },
    });
    const kycId = newReference('pending');
    const handle = await own.startFlow('kyc-check', kycId, { kycId, deadlineSeconds: 86_400 });
    await own.pass(DAY_MS + MINUTE_MS);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'no_decision', evidence: { words: [] } });
    // Every quarter of an hour.
    expect(looks.count).toBeLessThan(120);
    expect((await handle.describe()).historyLength).toBeLessThan(60);
    await handle.terminate();
    await own.close();
  });

  test('continues as new while a caller waits for an answer that does not exist', async () => {
    const own = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
    const kycId = newReference('pending');
    const handle = await own.startFlow('kyc-check', kycId, { kycId });
    await looked(handle);
    const waiting = await handle.startUpdate<{ kind: string }, []>('answer', { waitForStage: 'ACCEPTED' });
    const first = (await handle.describe()).runId;
    const latest = own.client.workflow.getHandle(handle.workflowId);
    for (let signal = 0; signal < 180; signal += 1) await latest.signal('events', []);
    expect((await waiting.result()).kind).toBe('none');
    while ((await latest.describe()).runId === first) await new Promise((resolve) => setTimeout(resolve, 25));
    await latest.terminate();
    await own.close();
  });

  test.each<[string | undefined, boolean | undefined, string | null]>([
    ['APPROVED', true, 'APPROVED'],
    ['approved', undefined, 'APPROVED'],
    ['verified', undefined, 'APPROVED'],
    ['COMPLETED', true, 'APPROVED'],
    ['anything', true, 'APPROVED'],
    [undefined, true, 'APPROVED'],
    ['REJECTED', false, 'REJECTED'],
    ['declined', undefined, 'REJECTED'],
    // Not reviewed yet.
    ['PENDING', false, 'PENDING'],
    [undefined, false, 'PENDING'],
    // A review ended, without saying how.
    ['COMPLETED', undefined, 'COMPLETED'],
    ['COMPLETED', false, 'COMPLETED_BUT_KYC_STATUS_FALSE'],
    // A contradiction decides nothing.
    ['APPROVED', false, 'APPROVED_BUT_KYC_STATUS_FALSE'],
    ['REJECTED', true, 'REJECTED_BUT_KYC_STATUS_TRUE'],
    [undefined, undefined, null],
  ])('reads status %s with kycStatus %s as %s', (text, approved, word) => {
    expect(kycWord(text, approved)).toBe(word);
  });

  test('reads the event in either spelling, with an envelope and without', () => {
    const read = (body: unknown) => {
      const { references = [], status } = kycCheckFlow.readEvent(body) ?? {};
      return [...references, status];
    };
    const event = 'kyc.status.changed';
    expect(read({ event, data: { kycId: 'k-1', status: 'APPROVED', kycStatus: true } })).toEqual(['k-1', 'APPROVED']);
    expect(read({ event, data: { kyc_id: 'k-1', kyc_status: 'true' } })).toEqual(['k-1', 'APPROVED']);
    expect(read({ reference_id: 'k-1', status: 'rejected' })).toEqual(['k-1', 'REJECTED']);
    expect(kycCheckFlow.readEvent('text')).toBeUndefined();
  });
});
