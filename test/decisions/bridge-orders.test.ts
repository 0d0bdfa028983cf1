import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ended, entriesOf, inInbox, noted, openDecisionBench, parked, resolve } from './bench.js';
import { RejectedError } from '../../src/service-client/index.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const failed = () => trusted('FAILED', { facts: { refundAnnounced: 'true', failureStage: 'settlement' } });

describe('an order about a bridge transfer is judged by what is proven when it is carried out', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    const refuse = (operation: 'sendCrypto' | 'reportSettlement') => async () => {
      const refusal = { httpStatus: 400, message: 'no', fields: [], isRateExpired: false, isAboutReference: false };
      throw new RejectedError(operation, refusal);
    };
    decisions = await openDecisionBench(() => ({
      sendCrypto: refuse('sendCrypto'),
      reportSettlement: refuse('reportSettlement'),
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const tracked = async (word: string) => {
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, handle };
  };

  test('mark-failed if a report was refused, and the service reports COMPLETED by now: it is completed', async () => {
    const { reference, handle } = await tracked('reported');
    const id = randomUUID();
    await decisions.store.inbox.receive({
      id,
      source: 'settlement',
      flowId: handle.workflowId,
      reference,
      status: 'COMPLETED',
      proof: 'signature',
      contentHash: id,
      body: settlement(reference, 'COMPLETED'),
    });
    await handle.signal('events', [trusted('COMPLETED', { id, source: 'settlement', proof: 'signature' })]);
    const view = await parked(handle);
    expect(view.parked?.reason).toBe('report_refused');
    // The timeline names the service for its own refusal.
    expect(entriesOf(view, 'report-refused')).toMatchObject([{ by: 'service' }]);
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('mark-refunded if the refund was refused, and the service reports COMPLETED by now: a conflict', async () => {
    const { handle } = await tracked('refused');
    await handle.signal('events', [failed()]);
    expect((await parked(handle)).parked?.reason).toBe('refund_failed');
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await expect(resolve(handle, 'mark-refunded')).rejects.toThrow();
    await noted(handle, 'parked', 'conflict');
    await resolve(handle, 'mark-completed');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('mark-failed in a conflict if a REFUNDED has come since: it is shown, and asked again', async () => {
    const { handle } = await tracked('conflict');
    await handle.signal('events', [trusted('COMPLETED', { id: randomUUID() }), failed()]);
    expect((await parked(handle)).parked?.reason).toBe('conflict');
    await inInbox(decisions, handle.workflowId, 'REFUNDED');
    await expect(resolve(handle, 'mark-failed')).rejects.toThrow();
    await untilFlow(handle, ({ view }) => JSON.stringify(view.parked?.evidence ?? '').includes('REFUNDED'));
    await resolve(handle, 'mark-refunded');
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });
});
