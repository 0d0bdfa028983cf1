import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openService } from '../../src/cli/wiring/service.js';
import type { ServiceClient } from '../../src/client/index.js';
import type { FlowReport } from '../../src/flows/messages.js';
import { newReference, openBench, TOKEN, type Bench } from '../workflows/bench.js';
import { until } from '../gateway/setup/until.js';
import { openFront, type Front, type Refusal, type Seen } from './front-of-service.js';
import { inTurns } from './in-turns.js';

const N = 60;
const numbers = Array.from({ length: N }, (_, number) => number);

describe('a service that limits and checks who asks', () => {
  let folder: string;
  let tokenFile: string;
  let front: Front;
  let service: ServiceClient;
  let bench: Bench;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-front-'));
    tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'first-token', { mode: 0o600 });
    front = await openFront();
    // Wired as the worker wires it: a token file, read again when the service refuses what was in it.
    service = openService({
      serviceBaseUrl: front.url,
      serviceToken: undefined,
      serviceTokenFile: tokenFile,
      serviceTimeoutMs: 5_000,
    });
    bench = await openBench({ time: 'real', sandbox: { stepMs: 10 }, deps: { service } });
    front.behind = { url: bench.sandbox.url, token: TOKEN };
  });
  afterAll(async () => {
    await bench.close();
    service.close();
    await front.close();
    await rm(folder, { recursive: true, force: true });
  });

  const send = async (word: string, timeScale: number, ending = 'completed') => {
    const reference = newReference(word);
    if (ending !== 'completed') await bench.control('POST', '/scenarios', { reference, ending });
    const handle = await bench.startFlow('crypto-send', reference, {
      referenceId: reference,
      receiverAddress: '0x3333333333333333333333333333333333333333',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '12.5',
      timeScale,
    });
    return { reference, handle };
  };
  const stateOf = async (handle: WorkflowHandle) => ((await handle.result()) as FlowReport).view.state;
  const ofThese = (flows: readonly { reference: string }[]) => {
    const references = new Set(flows.map(({ reference }) => reference));
    return front.seen.filter(({ reference }) => references.has(reference));
  };

  test(`fault 18: two storms of 429 on n = ${N} flows: requests ≤ 1.2 × needed, asked again before the hint: 0`, async () => {
    const STORM_MS = 3_000;
    const HINTS: readonly ((seconds: number) => Partial<Refusal>)[] = [
      (seconds) => ({ headers: { 'retry-after': String(seconds) } }),
      (seconds) => ({ body: { success: false, message: 'slow down', data: { retryAfter: seconds } } }),
      (seconds) => ({ body: { success: false, message: 'slow down', retry_after: seconds } }),
    ];
    const begins: Partial<Record<string, number>> = {};
    const hinted = new Map<Seen | string, number>();
    let turn = 0;
    // One storm when the sends come, another when they are looked up.
    front.refuse = ({ method, reference, atMs }) => {
      const leftMs = (begins[method] ??= atMs) + STORM_MS - atMs;
      if (leftMs <= 0) return undefined;
      const seconds = Math.ceil(leftMs / 1_000);
      hinted.set(`${method} ${reference} ${atMs}`, seconds * 1_000);
      return { status: 429, ...HINTS[turn++ % HINTS.length]?.(seconds) };
    };
    const flows = await Promise.all(numbers.map(() => send('storm', 1)));
    const states = await Promise.all(flows.map(({ handle }) => stateOf(handle)));
    front.refuse = () => undefined;
    expect(new Set(states)).toEqual(new Set(['completed']));

    const seen = ofThese(flows);
    const asked = (status: (code: number) => boolean) => seen.filter((request) => status(request.status));
    // What nobody can spare: the request that is served, and the one that is told of the storm.
    const told = new Set(asked((code) => code === 429).map(({ method, reference }) => `${method} ${reference}`)).size;
    const needed = asked((code) => code === 200).length + told;
    expect(told).toBeGreaterThan(N);
    expect(seen.length / needed).toBeLessThanOrEqual(1.2);

    const tooEarly = asked((code) => code === 429).filter(({ method, reference, atMs }) => {
      const next = seen.find((one) => one.method === method && one.reference === reference && one.atMs > atMs);
      return next !== undefined && next.atMs - atMs < (hinted.get(`${method} ${reference} ${atMs}`) ?? Infinity);
    });
    expect(tooEarly).toEqual([]);
    const posts = asked((code) => code === 200).filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(N);
  }, 120_000);

  test(`fault 19: a token that is rejected mid-flow, n = ${N} flows: all wait, read the new one once, and go on; rejected 0`, async () => {
    const SCALE = 0.1;
    const valid = new Set(['first-token']);
    front.refuse = ({ token }) => (valid.has(token) ? undefined : { status: 401 });
    const under = await inTurns(numbers.slice(N / 2), 10, () => send('under-way', SCALE, 'never'));
    await inTurns(under, 10, ({ handle }) => handle.executeUpdate('answer'));

    valid.clear();
    const fresh = await inTurns(numbers.slice(0, N / 2), 10, () => send('fresh', SCALE, 'never'));
    const flows = [...under, ...fresh];
    await until(
      'every flow to be refused',
      () => new Set(ofThese(flows).flatMap(({ status, reference }) => (status === 401 ? [reference] : []))).size === N,
      60_000,
    );
    const waiting = await Promise.all(flows.map(({ handle }) => handle.describe()));
    expect(new Set(waiting.map(({ status }) => status.name))).toEqual(new Set(['RUNNING']));

    // Whoever reads the file a second time gets what nobody may ever send.
    front.refuse = ({ token }) => {
      if (token === 'second-token') writeFileSync(tokenFile, 'read-twice');
      return valid.has(token) ? undefined : { status: 401 };
    };
    valid.add('second-token');
    writeFileSync(tokenFile, 'second-token');
    await inTurns(flows, 10, async ({ reference, handle }) => {
      await handle.executeUpdate('answer');
      await bench.move(reference, 'SUCCESSFUL');
    });
    const states = await Promise.all(flows.map(({ handle }) => stateOf(handle)));
    expect(new Set(states)).toEqual(new Set(['completed']));
    const tokens = new Set(front.seen.map(({ token }) => token));
    expect(tokens).toEqual(new Set(['first-token', 'second-token']));
    const counts = await Promise.all(flows.map(({ reference }) => bench.executions('sendCrypto', reference)));
    expect(new Set(counts)).toEqual(new Set([1]));
  }, 120_000);
});
