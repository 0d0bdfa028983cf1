import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { ended, openDecisionBench, parked, refused, resolve, TIME_SCALE } from './bench.js';

describe('a deposit that the service refuses', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** What happens before the refusal. */
  let before: (flowId: string) => Promise<unknown> = async () => undefined;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({
      async createBridgeDeposit({ provider_reference_id: reference }) {
        await before(`bridge-transfer/${reference}`);
        throw refused('createBridgeDeposit');
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = (word: string) =>
    decisions.bench.start(transferInput(newReference(word), { timeScale: TIME_SCALE, deadlineSeconds: 360_000 }));

  test("ends the transfer as failed, and its caller gets the service's answer", async () => {
    const handle = await start('refused');
    expect(await handle.executeUpdate('answer')).toMatchObject({ kind: 'rejected', httpStatus: 400, message: 'limit' });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
  });

  test('is no failure against an untrusted COMPLETED: a person is asked', async () => {
    const claimed = trusted('COMPLETED', { trusted: false, proof: null });
    before = (flowId) => decisions.bench.client.workflow.getHandle(flowId).signal('events', [claimed]);
    const handle = await start('claimed');
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict' });
    await resolve(handle, 'mark-failed');
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
  });
});
