import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, it } from '@jest/globals';
import { inTurns } from '../../src/in-turns.js';
import { completeTransfer, FORGERIES_OF_A_KIND, forgeSettlements, silentTransfer } from './setup/forgeries.js';
import type { Answer } from '../harness/service.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { type Stack, withStack } from '../end-to-end/stack.js';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

let stack: Stack;
const silent = () => silentTransfer(stack);
const viewOf = async (reference: string): Promise<Answer> =>
  (await stack.get(`/flows/bridge-transfer/${reference}`)).body;
const handleOf = (reference: string) => stack.client.workflow.getHandle(`bridge-transfer/${reference}`);

describe('fault 38: forged settlements', () => {
  withStack({ env: { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0' } }, (opened) => (stack = opened));

  it(`each of ${FORGERIES_OF_A_KIND} kinds, most with every fact right: wrongly settled, refunded or passed on: 0`, async () => {
    const found = await forgeSettlements(stack, { flows: 4, forgeries: 4 * FORGERIES_OF_A_KIND });
    expect(found).toEqual({
      refused: (4 * FORGERIES_OF_A_KIND) / 2,
      kept: (4 * FORGERIES_OF_A_KIND) / 2,
      otherAnswers: [],
      moved: [],
      trusted: 0,
      // And they still end as the service reports.
      ends: ['completed', 'completed', 'completed', 'completed'],
    });
  });
});

describe('fault 47: what is smuggled in, and what errors carry', () => {
  withStack({}, (opened) => (stack = opened));

  /** A client of the same namespace that has no keys. */
  const withoutCodec = async <T>(use: (client: Client) => Promise<T>) => {
    const connection = await Connection.connect({ address: stack.settings.temporal['TEMPORAL_ADDRESS'] ?? '' });
    try {
      return await use(new Client({ connection }));
    } finally {
      await connection.close();
    }
  };

  it('plaintext signals and updates to 10 flows: wedged 0, believed 0; plaintext starts claim nothing', async () => {
    const references = await inTurns(numbers(10), 4, () => silent());
    const refused = await withoutCodec((client) =>
      inTurns(references, 4, async (reference) => {
        const handle = client.workflow.getHandle(`bridge-transfer/${reference}`);
        const event = { id: 'evt_forged', source: 'callback', proof: 'signature', body: { status: 'COMPLETED' } };
        for (const smuggled of [[event], { events: [event] }, 'text', null, 7, { __plaintext: [event] }]) {
          await handle.signal('events', smuggled);
        }
        const orders = ['cancel', 'resolve', 'approveQuote', 'pay'].map((name) =>
          handle.executeUpdate(name, { args: [{ actor: 'forger', action: 'mark-completed', note: 'x' }] }).then(
            () => 'taken',
            () => 'refused',
          ),
        );
        return Promise.all(orders);
      }),
    );
    expect(new Set(refused.flat())).toEqual(new Set(['refused']));
    for (const reference of references) expect((await viewOf(reference))['state']).toBe('running');
    expect(new Set(await inTurns(references, 4, (reference) => completeTransfer(stack, reference)))).toEqual(
      new Set(['completed']),
    );
    const { timeline } = await viewOf(references[0] ?? '');
    expect(timeline).toContainEqual(expect.objectContaining({ code: 'plaintext-dropped' }));

    const reference = newReference('plaintext');
    await withoutCodec((client) => {
      const options = { taskQueue: stack.taskQueue, workflowId: `bridge-transfer/${reference}` };
      return client.workflow.start('bridgeTransfer', { ...options, args: [transferInput(reference)] });
    });
    await expect(handleOf(reference).result()).rejects.toThrow(WorkflowFailedError);
    expect((await viewOf(reference))['outcome']).toMatchObject({ reason: 'plaintext_input' });
    expect(await stack.store.claims.ofFlow(`bridge-transfer/${reference}`)).toEqual([]);
  });

  it('10 flows whose requests fail with bodies and headers: tokens, names and numbers in logs and histories 0', async () => {
    for (const kind of ['garbage', 'error-before', 'answer-lost', 'error-after']) {
      await stack.control('POST', '/faults', { operation: '*', kind, rate: 0.15 });
    }
    const references = await inTurns(numbers(10), 10, async () => {
      const reference = newReference('failing');
      await stack.control('POST', '/scenarios', { reference, ending: 'completed' });
      await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.01 }));
      await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`);
      return reference;
    });
    const { count } = await stack.control('GET', '/faults/log');
    await stack.control('DELETE', '/faults');
    // A run without a fault shows nothing: chance is seeded by the references, which are the same in every run.
    expect(count).toBeGreaterThan(0);
    const histories = await inTurns(references, 5, async (reference) => {
      const history = await handleOf(reference).fetchHistory();
      return JSON.stringify(history, (_, value: unknown) =>
        isBytes(value) ? Buffer.from(value).toString('latin1') : value,
      );
    });
    const places = { history: histories.join('\n'), log: [...stack.workerLog, JSON.stringify(stack.log)].join('\n') };
    const canaries = [SERVICE_TOKEN, 'dev-token', '+27821234567', 'Canary Recipient', 'Bearer '];
    const found = Object.entries(places).flatMap(([place, text]) =>
      canaries.filter((canary) => text.includes(canary)).map((canary) => `${canary} in ${place}`),
    );
    expect(found).toEqual([]);
    expect(places.log.length).toBeGreaterThan(1_000);
  });
});

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
