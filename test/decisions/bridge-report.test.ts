import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { NotSentError } from '../../src/service-client/index.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { ended, entriesOf, noted, openDecisionBench, parked, refused, resolve } from './bench.js';

describe("a provider's settlement that is reported", () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** Statuses that were reported, in order, in vain or not. */
  let reports: unknown[] = [];
  let answer: () => Promise<unknown> = async () => ({});
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({
      reportSettlement: ({ status }) => {
        reports.push(status);
        return answer() as never;
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const tracked = async (word: string) => {
    reports = [];
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, handle };
  };
  const settled = async (reference: string, handle: WorkflowHandle, status: string) => {
    const id = randomUUID();
    const row = { id, source: 'settlement', flowId: handle.workflowId, reference, status, proof: 'signature' } as const;
    await decisions.store.inbox.receive({ ...row, contentHash: id, body: settlement(reference, status) });
    await handle.signal('events', [trusted(status, { id, source: 'settlement', proof: 'signature' })]);
  };
  const away = () => Promise.reject(new NotSentError('reportSettlement', 'refused'));
  /** It could not be reported so far, and a person is asked. */
  const unreported = async (word: string) => {
    answer = away;
    const flow = await tracked(word);
    await settled(flow.reference, flow.handle, 'COMPLETED');
    await decisions.bench.pass(3_000);
    const { parked: question } = await parked(flow.handle);
    expect(question).toMatchObject({
      reason: 'report_refused',
      actions: ['report-again', 'mark-completed', 'mark-failed', 'mark-refunded'],
      evidence: { status: 'COMPLETED', kind: 'not-taken', message: expect.stringMatching(/./) },
    });
    return flow;
  };

  test('is reported again by the order of a person after the service refused it', async () => {
    answer = () => Promise.reject(refused('reportSettlement'));
    const { reference, handle } = await tracked('again');
    await settled(reference, handle, 'COMPLETED');
    const view = await parked(handle);
    expect(view.parked).toMatchObject({
      reason: 'report_refused',
      evidence: { status: 'COMPLETED', kind: 'refused', httpStatus: 400, message: 'limit' },
    });
    expect(view.timeline.at(-2)).toMatchObject({ by: 'service', code: 'report-refused' });
    answer = async () => ({});
    await resolve(handle, 'report-again');
    const after = await ended(handle);
    expect(after.outcome).toMatchObject({ state: 'completed' });
    expect(entriesOf(after, 'settlement-reported')).toHaveLength(1);
    expect(reports).toEqual(['COMPLETED', 'COMPLETED']);
  });

  test('needs no report any more once the service itself reports it', async () => {
    answer = () => Promise.reject(refused('reportSettlement'));
    const { reference, handle } = await tracked('overtaken');
    await settled(reference, handle, 'COMPLETED');
    expect((await parked(handle)).parked?.reason).toBe('report_refused');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(reports).toEqual(['COMPLETED']);
  });

  test('that did not reach the service ends by the order of a person', async () => {
    const { handle } = await unreported('marked');
    await resolve(handle, 'mark-completed');
    const view = await ended(handle);
    expect(view.outcome).toMatchObject({ state: 'completed' });
    expect(entriesOf(view, 'order-taken')).toHaveLength(1);
  });

  test('that did not reach the service is reported once more when a person orders it', async () => {
    const { handle } = await unreported('once-more');
    answer = async () => ({});
    await resolve(handle, 'report-again').catch(() => undefined);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'completed' });
  });

  test('that did not reach the service needs no report once the service itself reports it', async () => {
    const { handle } = await unreported('overtaken-away');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'completed' });
  });

  test('that did not reach the service at first, and is refused later, is asked about as refused', async () => {
    const { handle } = await unreported('refused-later');
    answer = () => Promise.reject(refused('reportSettlement'));
    await decisions.bench.pass(60_000);
    await noted(handle, 'report-refused');
    expect((await parked(handle)).parked?.evidence).toMatchObject({ kind: 'refused', httpStatus: 400 });
    await handle.terminate();
  });

  test('is also reported if it is of a refund that comes while the one of the service is awaited', async () => {
    answer = async () => ({});
    const { reference, handle } = await tracked('refunded');
    await handle.signal('events', [trusted('FAILED', { facts: { refundAnnounced: 'true' } })]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    await settled(reference, handle, 'REFUNDED');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    expect(reports).toEqual(['REFUNDED']);
  });
});
