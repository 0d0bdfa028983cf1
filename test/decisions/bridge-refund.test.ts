import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { noted, openDecisionBench, parked, resolve } from './bench.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const FAILED = { refundAnnounced: 'true', failureStage: 'settlement' };
const failed = (facts: Record<string, string> = {}) => trusted('FAILED', { facts: { ...FAILED, ...facts } });
const untrusted = (status: string): FlowEvent => trusted(status, { trusted: false, proof: null, source: 'settlement' });

describe('a refund that the input orders', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({}));
  });
  afterAll(() => decisions.close());

  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
    const handle = await decisions.bench.start({ ...input, ...more });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return { reference, refund: `${reference}.refund`, handle };
  };

  test.each(['COMPLETED', 'REFUNDED', 'completed'])(
    'is held back by an untrusted %s that comes behind more untrusted events than a flow keeps',
    async (word) => {
      const { refund, handle } = await tracked('flooded');
      const claim = untrusted(word);
      await handle.signal('events', [...Array.from({ length: 30 }, () => untrusted('SETTLING')), claim, failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { why: expect.stringMatching(/unverified/) } });
      expect(shown?.evidence['claimed']).toContainEqual(expect.objectContaining({ id: claim.id }));
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await handle.terminate();
    },
  );

  test.each(['COMPLETED', 'REFUNDED'])(
    'is held back by an untrusted %s that lies in the inbox, and is sent by the order of a person who has seen it',
    async (status) => {
      const { reference, refund, handle } = await tracked('undelivered');
      const id = randomUUID();
      await decisions.store.inbox.receive({
        id,
        source: 'settlement',
        flowId: handle.workflowId,
        reference,
        status,
        proof: null,
        contentHash: id,
        body: { provider_reference_id: reference, status },
      });
      await handle.signal('events', [failed()]);
      const { parked: shown } = await parked(handle);
      expect(shown).toMatchObject({ reason: 'refund_needed', evidence: { claimed: [{ id }] } });
      expect(await decisions.executions('sendCrypto', refund)).toBe(0);
      await resolve(handle, 'refund-now');
      await noted(handle, /the refund was accepted/);
      expect(await decisions.executions('sendCrypto', refund)).toBe(1);
      await handle.terminate();
    },
  );
});
