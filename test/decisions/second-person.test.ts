import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { newReference } from '../harness/references.js';
import kycCheck from '../kinds/kyc-check.js';
import { ended, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

const SECONDS = 600;

describe('an order that needs two persons, from a Temporal client', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    const fourEyes = { actions: ['mark-completed'] as const, above: new Map<string, string>() };
    decisions = await openDecisionBench(() => ({}), { fourEyes });
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  test('is refused, also by the flow itself, and is in the audit log; one that needs a single person is taken', async () => {
    const reference = newReference('alone');
    const input = { ...kycCheck.input(reference), timeScale: TIME_SCALE, deadlineSeconds: SECONDS };
    const handle = await decisions.bench.startFlow('kyc-check', reference, input);
    await decisions.bench.pass(SECONDS * 1_000 * TIME_SCALE);
    await parked(handle);
    await expect(resolve(handle, 'mark-completed')).rejects.toMatchObject({
      cause: { type: 'needs_second_person' },
    });
    expect(await parked(handle)).toMatchObject({ outcome: null });
    expect(await resolve(handle, 'mark-failed')).toEqual({ accepted: true });
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
    const entries = await decisions.store.audit.list({ flowId: handle.workflowId, limit: 9, oldestFirst: true });
    const orders = entries.flatMap(({ kind, action }) => (action === null ? [] : [[kind, action]]));
    expect(orders).toEqual([
      ['refused', 'mark-completed'],
      ['order', 'mark-failed'],
    ]);
  });
});
