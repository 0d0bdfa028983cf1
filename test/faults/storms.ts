import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { readSettings } from '../../src/config/index.js';
import { followSecretsOf, openService } from '../../src/cli/wiring/dependencies.js';
import type { FlowReport } from '../../src/api/flow.js';
import { until } from '../harness/until.js';
import { openFront, type Refusal } from './front-of-service.js';
import { inTurns } from '../../src/in-turns.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { openStack } from '../harness/stack.js';

/** The three spellings of a hint. */
const HINTS: readonly ((seconds: number) => Partial<Refusal>)[] = [
  (seconds) => ({ headers: { 'retry-after': String(seconds) } }),
  (seconds) => ({ body: { success: false, message: 'slow down', data: { retryAfter: seconds } } }),
  (seconds) => ({ body: { success: false, message: 'slow down', retry_after: seconds } }),
];
const HINT_SECONDS = 1;

export interface Stormed {
  readonly state: string;
  /** How its requests were answered, by method, in order. */
  readonly posts: readonly number[];
  readonly refusedLookups: number;
  /** Requests before a hint was over. */
  readonly tooEarly: number;
}

export const STORMED: Stormed = { state: 'completed', posts: [429, 200], refusedLookups: 1, tooEarly: 0 };

export interface Rotated {
  readonly states: readonly string[];
  readonly executions: readonly number[];
  /** That reached the service, in the order of their first request. */
  readonly tokens: readonly string[];
  /** Of the flows when the token was refused to all of them. */
  readonly meanwhile: readonly string[];
}

export interface LimitedService {
  /** Refuses the first send and the first lookup of each flow with 429 until its hint is over. */
  storm(n: number): Promise<readonly Stormed[]>;
  /** Refuses the token of n flows, half of them in progress, and accepts a new one later. */
  rotate(n: number): Promise<Rotated>;
  close(): Promise<void>;
}

/** A service behind a front that limits and checks callers, and a worker that is wired to it as in production. */
export async function openLimitedService(): Promise<LimitedService> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-front-'));
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, 'first-token', { mode: 0o600 });
  const front = await openFront();
  const env = { SERVICE_BASE_URL: front.url, SERVICE_TOKEN_FILE: tokenFile, DEVELOPMENT: 'true', SERVICE_TIMEOUT: '8' };
  const settings = readSettings(env);
  const service = openService(settings, followSecretsOf(settings, { error: () => undefined }));
  const bench = await openStack({ time: 'real', sandbox: { stepMs: 10 }, deps: { service } });
  front.behind = { url: bench.sandbox.url, token: SERVICE_TOKEN };

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

  return {
    async storm(n) {
      const overAtMs = new Map<string, number>();
      front.refuse = ({ method, reference, atMs }) => {
        const key = `${method} ${reference}`;
        const overAt = overAtMs.get(key) ?? atMs + HINT_SECONDS * 1_000;
        if (!overAtMs.has(key)) overAtMs.set(key, overAt);
        else if (atMs >= overAt) return undefined;
        return { status: 429, ...HINTS[overAtMs.size % HINTS.length]?.(HINT_SECONDS) };
      };
      const flows = await Promise.all(Array.from({ length: n }, () => send('storm', 1)));
      const states = await Promise.all(flows.map(({ handle }) => stateOf(handle)));
      front.refuse = () => undefined;
      return flows.map(({ reference }, turn) => {
        const seen = front.seen.filter((request) => request.reference === reference);
        const refused = seen.filter(({ status }) => status === 429);
        const early = refused.filter(({ method }, at) => refused.findIndex((other) => other.method === method) !== at);
        return {
          state: states[turn] ?? 'none',
          posts: seen.filter(({ method }) => method === 'POST').map(({ status }) => status),
          refusedLookups: refused.filter(({ method }) => method === 'GET').length,
          tooEarly: early.length,
        };
      });
    },

    async rotate(n) {
      const SCALE = 0.1;
      const numbers = Array.from({ length: n }, (_, number) => number);
      const valid = new Set(['first-token']);
      front.refuse = ({ token }) => (valid.has(token) ? undefined : { status: 401 });
      const under = await inTurns(numbers.slice(n / 2), 10, () => send('under-way', SCALE, 'never'));
      await inTurns(under, 10, ({ handle }) => handle.executeUpdate('answer'));

      valid.clear();
      const fresh = await inTurns(numbers.slice(0, n / 2), 10, () => send('fresh', SCALE, 'never'));
      const flows = [...under, ...fresh];
      const references = new Set(flows.map(({ reference }) => reference));
      const ofThese = () => front.seen.filter(({ reference }) => references.has(reference));
      await until(
        'every flow to be refused',
        () => new Set(ofThese().flatMap(({ status, reference }) => (status === 401 ? [reference] : []))).size === n,
      );
      const waiting = await Promise.all(flows.map(({ handle }) => handle.describe()));

      valid.add('second-token');
      // As a rotation should be done: a reader must never find half of a token.
      writeFileSync(`${tokenFile}.new`, 'second-token', { mode: 0o600 });
      renameSync(`${tokenFile}.new`, tokenFile);
      await inTurns(flows, 10, async ({ reference, handle }) => {
        await handle.executeUpdate('answer');
        await bench.move(reference, 'SUCCESSFUL');
      });
      const states = await Promise.all(flows.map(({ handle }) => stateOf(handle)));
      return {
        states,
        executions: await Promise.all(flows.map(({ reference }) => bench.executions('sendCrypto', reference))),
        tokens: [...new Set(ofThese().map(({ token }) => token))],
        meanwhile: waiting.map(({ status }) => status.name),
      };
    },

    async close() {
      await bench.close();
      service.close();
      await front.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const rotated = (n: number): Rotated => {
  const all = <T>(value: T) => Array.from({ length: n }, () => value);
  return {
    states: all('completed'),
    executions: all(1),
    tokens: ['first-token', 'second-token'],
    meanwhile: all('RUNNING'),
  };
};
