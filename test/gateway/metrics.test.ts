import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keepFresh, remembered } from '../../src/gateway/ops/remembered.js';
import { LISTED_AFTER_MS } from '../../src/gateway/ops/value-in-flight.js';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

const TOKENS = 'prometheus:flows+viewer:secret-of-prometheus';
const AUTH = { authorization: 'Bearer secret-of-prometheus' };

describe('the metrics', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      // All flows of the namespace are counted, including those of other tests.
      namespace: newReference('counted'),
      env: { GATEWAY_TOKENS: TOKENS },
      gateway: {
        // Each scrape counts the flows again, and the value in flight as of now.
        pace: { countEveryMs: 0 },
        nowMs: () => Date.now() + LISTED_AFTER_MS,
      },
    });
    worker = await startFlowWorker(tested);
  });
  afterAll(async () => {
    await tested.close();
    await worker.stop();
  });

  const scrape = async (): Promise<string> => {
    const answer = await fetch(`${tested.url}/metrics`, { headers: AUTH });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=/);
    return answer.text();
  };
  const valueOf = (text: string, series: string): number | undefined => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };

  it('need a token, since they show how much money is in flight', async () => {
    expect((await fetch(`${tested.url}/metrics`)).status).toBe(401);
  });

  it('count events by their state, and say how fast they were taken and passed on', async () => {
    const before = await scrape();
    const more = (text: string, series: string) => (valueOf(text, series) ?? 0) - (valueOf(before, series) ?? 0);
    const reference = newReference();
    await tested.post('/flows/bridge-transfer', transferInput(reference), AUTH);
    const path = tested.callbackPath(reference);
    for (const status of ['SETTLING', 'SETTLING', 'COMPLETED']) await tested.post(path, { status });
    const applied = 'towline_events_settled_total{state="applied"}';
    await until('both to be applied', async () => more(await scrape(), applied) === 2);
    const text = await scrape();
    expect(more(text, 'towline_events{state="waiting"}')).toBe(0);
    const acknowledged = (result: string) =>
      more(text, `towline_event_acknowledgement_seconds_count{source="callback",result="${result}"}`);
    expect([acknowledged('stored'), acknowledged('duplicate')]).toEqual([2, 1]);
    // One of them may have reached the flow by its own read of the inbox, before it was passed on.
    expect([1, 2]).toContain(more(text, 'towline_event_dispatch_lag_seconds_count'));
    expect(valueOf(text, 'towline_store_up')).toBe(1);
  });

  it('count requests by the pattern of their route: no reference and no capability is in them', async () => {
    const reference = newReference();
    await tested.post(tested.callbackPath(reference), { status: 'SETTLING' });
    await tested.get(`/flows/bridge-transfer/${reference}`);
    const text = await scrape();
    expect(text).toContain('route="/callbacks/:kind/:reference/:capability",status="200"');
    expect(text).not.toContain(reference);
  });

  it('count flows by kind and state, and add up exactly what is in flight', async () => {
    const references = [newReference(), newReference()] as const;
    for (const [amount, reference] of [
      ['0.1', references[0]],
      ['0.2', references[1]],
    ] as const) {
      // It stays in progress until it was counted, however long that takes.
      await worker.control('POST', '/scenarios', { reference, ending: 'silent' });
      await tested.post('/flows/bridge-transfer', transferInput(reference, { source_currency: 'LSL', amount }), AUTH);
    }
    const list = async (reference: string) =>
      (await fetch(`${tested.url}/flows?reference=${reference}`, { headers: AUTH })).json() as Promise<{
        flows: { state: string }[];
      }>;
    for (const reference of references) {
      await until('it to be listed', async () => {
        return (await list(reference)).flows.length > 0;
      });
    }
    const text = await scrape();
    expect(valueOf(text, 'towline_value_in_flight{currency="LSL"}')).toBe(0.3);
    expect(valueOf(text, 'towline_flows{kind="bridge-transfer",state="running"}')).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(/^towline_flows_parked_started_before\{age="1d"\} \d+$/m);
    expect(text).toMatch(/^towline_claims_sending \d+$/m);
    expect(text).toMatch(/^towline_claims_sending_oldest_seconds [\d.]+$/m);
    expect(valueOf(text, 'towline_events_oldest_waiting_seconds')).toBe(0);
    expect(valueOf(text, 'towline_events_unproven_limit_bytes')).toBe(64_000_000);
    expect(text).toMatch(/^towline_flows_overdue \d+$/m);
    expect(text).toMatch(/^towline_callbacks_undelivered \d+$/m);
    expect(text).toMatch(/^towline_flows_of_unknown_value \d+$/m);

    await tested.post(tested.callbackPath(references[0]), { status: 'COMPLETED' });
    await until('it to be listed as completed', async () => {
      return (await list(references[0])).flows[0]?.state === 'completed';
    });
    expect(valueOf(await scrape(), 'towline_value_in_flight{currency="LSL"}')).toBe(0.2);
  });
});

describe('an answer that is remembered', () => {
  it('is found out once for all who ask meanwhile, and for a while after, failures too', async () => {
    let nowMs = 0;
    let asked = 0;
    const answers = [() => Promise.resolve(1), () => Promise.reject(new Error('away')), () => Promise.resolve(3)];
    const ask = remembered(
      () => nowMs,
      () => (answers[(asked += 1) - 1] ?? (() => Promise.resolve(0)))(),
      100,
    );
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    nowMs += 99;
    expect(await ask()).toBe(1);
    nowMs += 1;
    for (const again of [ask(), ask()]) await expect(again).rejects.toThrow('away');
    await expect(ask()).rejects.toThrow('away');
    expect(asked).toBe(2);
    nowMs += 100;
    expect(await ask()).toBe(3);
  });
});

describe('an answer that is kept fresh', () => {
  const ask = (answers: readonly (() => Promise<number>)[]) => {
    const waiting = [...answers];
    let asked = 0;
    const failures: unknown[] = [];
    let nowMs = 0;
    const fresh = keepFresh({
      ask: () => {
        asked += 1;
        return waiting.shift()?.() ?? Promise.reject(new Error('asked once too often'));
      },
      freshMs: 100,
      patienceMs: 20,
      monotonicMs: () => nowMs,
      failed: (error) => failures.push(error),
    });
    return { fresh, failures, asked: () => asked, pass: (ms: number) => (nowMs += ms) };
  };
  const answer = (value: number) => () => Promise.resolve(value);

  it('is queried once for all who want it at the same time, and again only when it is old', async () => {
    const { fresh, asked, pass } = ask([answer(1), answer(2)]);
    expect(await Promise.all([fresh(), fresh()])).toEqual([1, 1]);
    pass(99);
    expect(await fresh()).toBe(1);
    expect(asked()).toBe(1);
    pass(1);
    expect(await fresh()).toBe(2);
  });

  it('stays if the query fails or takes too long', async () => {
    const { fresh, failures, pass } = ask([
      answer(1),
      () => Promise.reject(new Error('away')),
      () => new Promise(() => {}),
    ]);
    await fresh();
    pass(100);
    expect(await fresh()).toBe(1);
    expect(failures).toHaveLength(1);
    expect(await fresh()).toBe(1);
  });

  it('is none before the first one could be had', async () => {
    const { fresh } = ask([() => Promise.reject(new Error('away'))]);
    expect(await fresh()).toBeUndefined();
  });
});
