import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { optionalDateToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { stillOpenAt } from '../../src/cli/wiring/notifier.js';
import { createFlowStats } from '../../src/gateway/ops/flow-stats.js';
import { LISTED_AFTER_MS } from '../../src/gateway/ops/value-in-flight.js';
import { createFlowReader } from '../../src/temporal/flow-handle.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { makeTemporaryStore } from '../store/temporary-store.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

/** Temporal's visibility with so many open runs, in pages, which counts its requests; each question has as many answers. */
function visibilityOf(runs: number) {
  let requests = 0;
  const [amount, currency] = ['0.1', 'LSL'].map((text) => defaultPayloadConverter.toPayload(text));
  const memo = { fields: { amount, currency } };
  const listed = Array.from({ length: runs }, (_, index) => ({
    execution: { workflowId: `bridge-transfer/order-${index}`, runId: `run-${index}` },
    type: { name: 'bridgeTransfer' },
    taskQueue: 'towline',
    status: 1,
    historyLength: { toNumber: () => 10 },
    startTime: optionalDateToTs(new Date('2026-01-01T00:00:00Z')),
    memo,
  }));
  const client = {
    connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
    options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
    workflow: {
      async count() {
        requests += 1;
        return { count: runs, groups: [{ groupValues: ['Running'], count: runs }] };
      },
    },
    workflowService: {
      async listWorkflowExecutions({ query, pageSize, nextPageToken }: ListRequest) {
        requests += 1;
        // Nothing has started or closed since the count before.
        if (!query.includes('CloseTime IS NULL')) return { executions: [], nextPageToken: new Uint8Array() };
        const from = Number(Buffer.from(nextPageToken).toString());
        const next = from + pageSize < runs ? String(from + pageSize) : '';
        return { executions: listed.slice(from, from + pageSize), nextPageToken: Buffer.from(next) };
      },
    },
  };
  return { client: client as unknown as Client, requests: () => requests };
}
interface ListRequest {
  readonly query: string;
  readonly pageSize: number;
  readonly nextPageToken: Uint8Array;
}

describe('the cost of counting the flows', () => {
  /** How many requests to Temporal the first count makes, and each of the next two. */
  async function costWith(runs: number) {
    const { client, requests } = visibilityOf(runs);
    const temporary = await makeTemporaryStore('libsql');
    const store = await temporary.open();
    let nowMs = Date.parse('2026-02-01T00:00:00Z');
    const reader = createFlowReader(client);
    const count = createFlowStats({ client, store, reader, nowMs: () => nowMs, timeScale: 1, freshMs: 0 });
    const costs: number[] = [];
    for (let counts = 0; counts < 3; counts += 1) {
      const before = requests();
      const stats = await count();
      expect(stats?.inFlight).toEqual({ LSL: String(runs / 10) });
      expect(stats?.parked).toMatchObject({ no_settlement: runs });
      costs.push(requests() - before);
      nowMs += 15_000;
    }
    await temporary.remove();
    return costs;
  }

  it('is the same number of requests from 100 to 10,000 open flows, once the first count has listed all of them', async () => {
    const [firstOfFew = 0, ...few] = await costWith(100);
    const [firstOfMany = 0, ...many] = await costWith(10_000);
    expect(many).toEqual(few);
    expect(new Set(few).size).toBe(1);
    // 1,000 runs in each request.
    expect(firstOfMany - firstOfFew).toBe(9);
  });
});

describe('the flows, counted', () => {
  let tested: GatewayUnderTest;
  /** Not those on the wire: the server refuses some of many at once, and the client repeats them by itself. */
  let questions: () => number;
  beforeAll(async () => {
    tested = await gatewayUnderTest({ namespace: newReference('counted') });
    const { workflow, workflowService } = tested.client;
    const asked = [jest.spyOn(workflow, 'count'), jest.spyOn(workflowService, 'listWorkflowExecutions')];
    questions = () => asked.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    await open(60);
  });
  afterAll(() => tested.close());

  const countOn = (freshMs: number, more: Partial<Parameters<typeof createFlowStats>[0]> = {}) =>
    createFlowStats({
      client: tested.client,
      store: tested.store,
      reader: createFlowReader(tested.client),
      // What is in flight is as of now.
      nowMs: () => Date.now() + LISTED_AFTER_MS,
      timeScale: 1,
      freshMs,
      ...more,
    });
  let opened = 0;
  const runs = async () => (await tested.client.workflow.count()).count;
  /** Listed when it resolves. No worker takes them: they stay open. */
  const open = async (count: number) => {
    const before = await runs();
    const ids = Array.from({ length: count }, () => `bridge-transfer/${newReference()}`);
    await Promise.all(
      ids.map((workflowId) =>
        tested.client.workflow.start('bridgeTransfer', {
          workflowId,
          taskQueue: tested.taskQueue,
          memo: { amount: '0.1', currency: 'LSL' },
        }),
      ),
    );
    await until(`${count} more to be listed`, async () => (await runs()) >= before + count);
    opened += count;
  };

  it('cost the same number of questions to Temporal, however many are open', async () => {
    const count = countOn(0);
    await count();
    const costOf = async () => {
      const before = questions();
      const stats = await count();
      return { questions: questions() - before, inFlight: stats?.inFlight };
    };
    const few = await costOf();
    await open(57);
    const many = await costOf();
    expect(few.inFlight).toMatchObject({ LSL: '6' });
    expect(many.inFlight).toMatchObject({ LSL: '11.7' });
    expect(many.questions).toBe(few.questions);
    expect(few.questions).toBeLessThan(57);
  });

  it('are counted by one gateway for all: fresh counts are not queried a second time', async () => {
    const stats = await countOn(0)();
    const before = questions();
    expect(await countOn(600_000)()).toEqual(stats);
    expect(questions()).toBe(before);
  });

  it('add up again after visibility had lagged: a count that disagrees has all of them listed', async () => {
    const stats = await countOn(0)();
    const openRuns = await runs();
    const { duties } = tested.store;
    const keep = async (listedAgoMs: number) => {
      const wrong = {
        atMs: Date.now(),
        listedAtMs: Date.now() - listedAgoMs,
        openRuns: openRuns + 1,
        amounts: { LSL: '9' },
        withoutAmount: 0,
      };
      expect(await duties.take('counting', 1_000)).toBe(true);
      await duties.finish('counting', JSON.stringify({ ...stats, value: wrong }));
    };
    await keep(0);
    expect((await countOn(0)())?.inFlight).toEqual({ LSL: '9' });
    await keep(3_600_000);
    expect((await countOn(0)())?.inFlight).toEqual(stats?.inFlight);

    // A list of very many takes longer than the duty lasts: the duty is renewed with each page, and a gateway that lost
    // it stops.
    let [taken, mayTake] = [0, Infinity];
    const take: typeof duties.take = (...asked) =>
      (taken += 1) > mayTake ? Promise.resolve(false) : duties.take(...asked);
    const inPages = { store: { ...tested.store, duties: { ...duties, take } }, pageSize: 10 };
    await keep(3_600_000);
    taken = 0;
    expect((await countOn(0, inPages)())?.inFlight).toEqual(stats?.inFlight);
    expect(taken).toBeGreaterThanOrEqual(1 + Math.floor(openRuns / 10));
    await keep(3_600_000);
    [taken, mayTake] = [0, 4];
    await expect(countOn(0, inPages)()).rejects.toThrow();
    expect(taken).toBe(5);
  });

  it('have people notified of a flow that was terminated, once, until a person decides it', async () => {
    const reference = newReference('terminated');
    const flowId = `bridge-transfer/${reference}`;
    expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    await tested.client.workflow.getHandle(flowId).terminate();
    const isListed = `WorkflowId = '${flowId}' AND ExecutionStatus = 'Terminated'`;
    await until('it to be listed', async () => (await tested.client.workflow.count(isListed)).count === 1);
    const { matters } = tested.store;
    let raised = 0;
    const open: typeof matters.open = (...given) => ((raised += 1), matters.open(...given));
    const count = countOn(0, { store: { ...tested.store, matters: { ...matters, open } } });
    await count();
    await count();
    expect(raised).toBe(1);
    const due = async () => (await matters.due(9)).matters;
    const [matter, ...others] = await due();
    expect(others).toEqual([]);
    const { parked } = (await tested.get(`/flows/${flowId}`)).body;
    expect(matter?.content).toMatchObject({
      kind: 'parked',
      flowId,
      reason: 'terminated',
      since: parked.since,
      actions: ['resume'],
      amount: '1000.5',
      currency: 'KES',
    });
    const isStillOpen = async () =>
      matter === undefined ? undefined : stillOpenAt(tested.client, tested.store)(matter);
    expect(await isStillOpen()).toBe(true);
    const order = { as: 'not-executed', note: 'nothing was sent' };
    expect((await tested.post(`/flows/${flowId}/close-claims`, order)).status).toBe(200);
    expect(await isStillOpen()).toBe(false);
    expect(await due()).toMatchObject([{ id: matter?.id, resolvedAtMs: expect.any(Number) }]);
  });

  it('say which are past the deadline that their kind has by default', async () => {
    expect((await countOn(0)())?.overdue).toBe(0);
    const later = createFlowStats({
      client: tested.client,
      store: tested.store,
      reader: createFlowReader(tested.client),
      nowMs: () => Date.now() + 3_700_000,
      timeScale: 1,
    });
    expect((await later())?.overdue).toBe(opened);
  });
});
