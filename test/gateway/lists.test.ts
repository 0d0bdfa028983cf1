import { pino } from 'pino';
import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { defaultDataConverter } from '@temporalio/common';
import { optionalDateToTs } from '@temporalio/common/lib/time.js';
import type { FlowOperationDeps } from '../../src/gateway/flows/deps.js';
import { listFlows } from '../../src/gateway/flows/list.js';
import type { Caller } from '../../src/gateway/http/bearer-token.js';
import { createOwners } from '../../src/gateway/http/owners.js';
import { createPageLimit } from '../../src/gateway/flows/charged-pages.js';
import { addAuditRoute } from '../../src/gateway/ops/audit.js';
import { addCallbackRoutes } from '../../src/gateway/ops/callbacks.js';
import type { Store } from '../../src/store/store.js';
import type { CallbackHandles, ListedCallbacks } from '../../src/temporal/callback-handle.js';
import { createCallbackHandles } from '../../src/temporal/callback-handle.js';
import { createFlowReader, type FlowFacts, type FlowReader } from '../../src/temporal/flow-handle.js';
import { limitQuestions, TooManyQuestionsError } from '../../src/temporal/questions.js';
import { until } from '../harness/until.js';
import { bareServer } from './setup/bare-server.js';
import { settled } from './setup/virtual-clock.js';

const times = (count: number) => Array.from({ length: count }, (_, n) => n);

const owners = createOwners({ ownersOf: () => Promise.resolve(new Map()) });
const viewer = (name: string): Caller => ({ name, role: 'viewer', means: 'token' });

describe('flows that are asked one by one', () => {
  it('are asked 16 at a time by all together, and no worker is asked about those whose turn does not come', async () => {
    const questions = { open: 0, mostOpen: 0, all: 0 };
    const letGo: (() => void)[] = [];
    const query = async () => {
      questions.all += 1;
      questions.open += 1;
      questions.mostOpen = Math.max(questions.mostOpen, questions.open);
      await new Promise<void>((resolve) => letGo.push(resolve));
      questions.open -= 1;
      return { view: {} };
    };
    const client = {
      options: {},
      connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
      workflow: { getHandle: () => ({ query, describe: async () => ({ status: { name: 'RUNNING' }, raw: {} }) }) },
    };
    const shared = { askWorker: limitQuestions() };
    const reader = createFlowReader(client as unknown as Client, { ...shared, reportWithinMs: 200 });
    const callbacks = createCallbackHandles(client as unknown as Client, shared);
    const ofCallbacks = times(8).map((n) =>
      callbacks.facts(`onramp/r-${n}`, { name: n % 2 ? 'ann' : 'bob', isOrder: true }),
    );
    const reports = times(100).map((n) =>
      reader.reportOfOpen(`onramp/r-${n}`, { name: n % 2 ? 'cyn' : 'dan' }).catch((error: unknown) => error),
    );
    await until('all who may to be asked', () => letGo.length === 16);
    // Longer than anyone waits for a turn.
    const startedMs = performance.now();
    await until('the time to be up', () => performance.now() - startedMs > 300);
    for (const go of letGo) go();
    const found = await Promise.all(reports);
    expect((await Promise.all(ofCallbacks)).filter((facts) => facts?.report !== undefined)).toHaveLength(8);
    expect(questions).toEqual({ open: 0, mostOpen: 16, all: 16 });
    expect(found.filter((report) => report instanceof TooManyQuestionsError)).toHaveLength(92);
  });
});

describe('lists of the gateway', () => {
  it("of callbacks have a name's own, though more than a list holds are another's and newer", async () => {
    async function* list() {
      for (const n of times(450)) yield { workflowId: `callbacks/onramp/r-${n}`, startTime: new Date(0) };
    }
    const handles = createCallbackHandles({ workflow: { list } } as unknown as Client);
    const own = ['onramp/r-401', 'onramp/r-444', 'onramp/r-449'];
    const keep = async (some: readonly ListedCallbacks[]) => some.filter(({ flowId }) => own.includes(flowId));
    const listed = async (limit: number) => (await handles.list('open', limit, keep)).map(({ flowId }) => flowId);
    expect([await listed(50), await listed(2)]).toEqual([own, own.slice(0, 2)]);
  });

  it('ask Temporal about four terminated flows at a time, however many are on the page', async () => {
    const row = (n: number) => ({
      execution: { workflowId: `onramp/r-${n}`, runId: `run-${n}` },
      type: { name: 'onramp' },
      status: 5,
      historyLength: { toNumber: () => 10 },
      startTime: optionalDateToTs(new Date('2026-01-01T00:00:00Z')),
    });
    const page = { executions: times(100).map(row), nextPageToken: new Uint8Array() };
    const client = {
      connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
      options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
      workflowService: { listWorkflowExecutions: () => Promise.resolve(page) },
    };
    const questions = { open: 0, mostOpen: 0, all: 0 };
    const facts = async (flowId: string) => {
      questions.all += 1;
      questions.open += 1;
      questions.mostOpen = Math.max(questions.mostOpen, questions.open);
      await settled();
      questions.open -= 1;
      const runId = flowId.replace('onramp/r', 'run');
      return { flowId, runId, status: 'TERMINATED', state: 'parked', money: {}, startedAt: new Date(0) } as FlowFacts;
    };
    const none = () => Promise.resolve([]);
    const matters = { contradictedAmong: () => Promise.resolve(new Set()) };
    const store = { claims: { ofFlow: none }, inbox: { list: none }, matters, proposals: { open: none } };
    const takePage = () => undefined;
    const deps = { client, store, reader: { facts }, takePage, owners } as unknown as FlowOperationDeps;
    const { flows } = await listFlows(deps, viewer('vic'), { limit: 500 });
    expect(flows.map(({ flowId }) => flowId)).toEqual(times(100).map((n) => `onramp/r-${n}`));
    expect(questions).toEqual({ open: 0, mostOpen: 4, all: 100 });
  });

  it('of one caller leave pages of Temporal to others, and end where the last page ended', async () => {
    let nowMs = 0;
    let pages = 0;
    const client = {
      connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
      options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
      workflowService: {
        listWorkflowExecutions: () => {
          pages += 1;
          return Promise.resolve({ executions: [], nextPageToken: Buffer.from([pages]) });
        },
      },
    };
    const store = { mac: (...parts: string[]) => Buffer.from(parts.join()).toString('hex').padEnd(16, '0') };
    const takePage = createPageLimit(25, () => nowMs);
    const deps = { client, store, takePage, owners } as unknown as FlowOperationDeps;
    const list = (name: string) => listFlows(deps, viewer(name), { limit: 50 });
    // Filters that leave nothing: 20 pages, 20, and what is left.
    for (const _ of times(3)) expect((await list('greedy')).next).not.toBeNull();
    expect(pages).toBe(50);
    await expect(list('greedy')).rejects.toMatchObject({ status: 429, retryAfter: 1 });
    for (const name of ['ann', 'ben', 'cem']) await list(name);
    expect(pages).toBe(100);
    await expect(list('dan')).rejects.toMatchObject({ status: 429 });
    nowMs = 1_000;
    await list('dan');
    await list('greedy');
    await list('ann');
    expect(pages).toBe(150);
  });

  it('of the store are charged by their rows, and one who reads without end leaves room for others', async () => {
    const { server, listen, headersOf } = bareServer('admin', 'ada');
    let [nowMs, stored] = [0, 500];
    const list = ({ limit = 50 }) => Promise.resolve(times(Math.min(limit, stored)).map((seq) => ({ seq })));
    const store = { audit: { list } } as unknown as Store;
    addAuditRoute(server, { store, takePage: createPageLimit(10, () => nowMs) });
    const url = await listen();
    const statusOf = async (rows: number) =>
      (await fetch(`${url}/audit?limit=${rows}`, { headers: headersOf('ada') })).status;
    // Ten pages of 50 each.
    for (const _ of times(2)) expect(await statusOf(500)).toBe(200);
    expect(await statusOf(1)).toBe(429);
    nowMs = 1_000;
    for (const _ of times(10)) expect(await statusOf(50)).toBe(200);
    expect(await statusOf(50)).toBe(429);
    [nowMs, stored] = [2_000, 49];
    for (const _ of times(50)) expect(await statusOf(500)).toBe(200);
    await server.close();
  });

  it('of callbacks look for dead receivers once for all who ask within five seconds', async () => {
    const { server, listen, headersOf } = bareServer('viewer', 'vic');
    let looks = 0;
    const openCircuits = async () => {
      looks += 1;
      await settled();
      return [];
    };
    const callbacks = { openCircuits, list: () => Promise.resolve([]) } as unknown as CallbackHandles;
    let nowMs = 0;
    const unused = { store: {} as Store, reader: {} as FlowReader, logger: pino({ level: 'silent' }) };
    addCallbackRoutes(server, {
      ...unused,
      owners,
      callbacks,
      secrets: () => [],
      readings: { record: () => Promise.resolve() },
      monotonicMs: () => nowMs,
      takePage: () => () => undefined,
    });
    const url = await listen();
    const ask = async () => (await fetch(`${url}/callbacks`, { headers: headersOf('vic') })).status;
    for (const _ of times(5)) expect(new Set(await Promise.all(times(10).map(ask)))).toEqual(new Set([200]));
    expect(looks).toBe(1);
    nowMs = 5_000;
    await ask();
    expect(looks).toBe(2);
    await server.close();
  });

  it("of callbacks are charged for each 200 among which a name's own were looked for", async () => {
    const { server, listen, headersOf } = bareServer('flows', 'ann');
    let [nowMs, stored, listed] = [0, 2_500, 0];
    async function* list() {
      for (const n of times(stored)) {
        listed += 1;
        yield { workflowId: `callbacks/onramp/r-${n}`, startTime: new Date(0) };
      }
    }
    const unused = { store: {} as Store, reader: {} as FlowReader, logger: pino({ level: 'silent' }) };
    addCallbackRoutes(server, {
      ...unused,
      owners,
      callbacks: createCallbackHandles({ workflow: { list } } as unknown as Client),
      secrets: () => [],
      readings: { record: () => Promise.resolve() },
      monotonicMs: () => nowMs,
      takePage: createPageLimit(10, () => nowMs),
    });
    const url = await listen();
    const ask = async () => (await fetch(`${url}/callbacks`, { headers: headersOf('ann') })).status;
    // None of 2,000 is their own: ten pages each, of twenty.
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    expect(listed).toBe(4_000);
    [nowMs, stored] = [10_000, 0];
    for (const _ of times(20)) expect(await ask()).toBe(200);
    expect(await ask()).toBe(429);
    await server.close();
  });
});
