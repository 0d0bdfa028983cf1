import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createCallbackActivities, type ActivityDeps } from '../../activities/index.js';
import { CallbackUnreachableError, createCallbackSender } from '../../src/callbacks/index.js';
import { openStack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';

/** As many as an SDK worker has places for activities. */
const HANGING = 110;
/** One worker opens this many to one receiver. */
const OPEN_AT_ONCE = 20;

describe('receivers that hang', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const close of closing.splice(0).toReversed()) await close();
  });

  it(`fault 56: ${HANGING} callbacks that hang hold up no transfer`, async () => {
    const opened = await hangingReceiver();
    closing.push(opened.close);
    const callbacks = createCallbackSender({
      secrets: () => [`whsec_${Buffer.alloc(32, 5).toString('base64')}`],
      allowLoopback: true,
      timeoutMs: 120_000,
    });
    const bench = await openStack({ time: 'real', deps: { callbacks } });
    closing.push(
      () => bench.close(),
      () => bench.terminateAll().then(() => opened.letGo()),
    );
    const hanging = Array.from({ length: HANGING }, () => newReference('pending'));
    // Each waits for a decision that does not come: it only reports that it waits.
    const callbackUrl = `${opened.url}/hook`;
    await Promise.all(hanging.map((kycId) => bench.startFlow('kyc-check', kycId, { kycId, callbackUrl })));
    // All others are held back.
    await until('as many callbacks to hang as may', () => opened.open() === OPEN_AT_ONCE);

    const reference = newReference('goes-on');
    const handle = await bench.start(transferInput(reference));
    await untilFlow(handle, ({ view }) => view.stage === 'tracking' || view.stage === 'settlement');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(await handle.result()).toMatchObject({ view: { state: 'completed' } });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    expect(opened.open()).toBeGreaterThan(0);
    expect(opened.most()).toBe(OPEN_AT_ONCE);
  });

  it('get a few callbacks at a time from one worker, and other receivers all of theirs', async () => {
    const { deliver, open, counted } = deliverer();
    const hangs = 'https://hangs.example/hook';
    const first = Array.from({ length: 20 }, () => deliver(hangs));
    await until('all to be open', () => open.length === 20);
    await expect(deliver(hangs)).rejects.toMatchObject({ ...NOT_DELIVERED, nextRetryDelay: 1_000 });
    expect(await deliver('https://quick.example/hook')).toMatchObject({ httpStatus: 200 });
    expect(counted).toEqual(['held_back', 'delivered']);
    for (const arrive of open.splice(0)) arrive();
    await Promise.all(first);
    const again = deliver(hangs);
    await until('it to be open', () => open.length === 1);
    open[0]?.();
    expect(await again).toMatchObject({ httpStatus: 200 });
  });

  it('are shown with no more than the name of an error that is not ours: it may have the URL', async () => {
    const { deliver, counted } = deliverer();
    const problem = 'The callback failed (RangeError).';
    await expect(deliver('https://broken.example/secret')).rejects.toMatchObject({ details: [{ problem }] });
    expect(counted).toEqual(['failed']);
  });

  it('get one callback at a time once three in a row had no answer, until one has', async () => {
    const { deliver, open, at } = deliverer();
    const dead = 'https://hooks.dead.example/hook';
    for (let missed = 0; missed < 2; missed += 1) {
      await expect(deliver(dead)).rejects.toMatchObject({ details: [{ circuit: null }] });
    }
    const circuit = { origin: 'https://hooks.dead.example', since: new Date(at.nowMs).toISOString() };
    await expect(deliver(dead)).rejects.toMatchObject({ ...NOT_DELIVERED, details: [{ circuit }] });
    const heldBack = { ...NOT_DELIVERED, nextRetryDelay: 15_000, details: [{ circuit }] };
    at.nowMs += 14_999;
    await expect(deliver('https://hooks.dead.example/another')).rejects.toMatchObject(heldBack);
    expect(await deliver('https://quick.dead.example/hook')).toMatchObject({ httpStatus: 200 });
    expect(await deliver('https://quick.example/hook')).toMatchObject({ httpStatus: 200 });

    // The one that tries it has no answer either: the next one tries after twice as long.
    at.nowMs += 1;
    await expect(deliver(dead)).rejects.toMatchObject({ details: [{ httpStatus: null, circuit }] });
    at.nowMs += 29_999;
    await expect(deliver(dead)).rejects.toMatchObject(heldBack);
    at.nowMs += 1;
    const probe = deliver('https://hooks.dead.example/hangs');
    await until('it to be open', () => open.length === 1);
    await expect(deliver(dead)).rejects.toMatchObject(heldBack);
    open[0]?.();
    expect(await probe).toMatchObject({ httpStatus: 200 });
    await expect(deliver(dead)).rejects.toMatchObject({ details: [{ circuit: null }] });
  });

  it('are one receiver under all names and ports of one domain, unless a host lends each name to a customer', async () => {
    const { deliver, open } = deliverer();
    const first = Array.from({ length: 20 }, (_, n) => deliver(`https://n${n}.hangs.example:${8_000 + n}/hook`));
    await until('all to be open', () => open.length === 20);
    await expect(deliver('https://another.hangs.example/hook')).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    const tenants = ['one', 'two'].map((name) => deliver(`https://${name}-hangs.github.io/hook`));
    await until('both to be open', () => open.length === 22);
    for (const arrive of open.splice(0)) arrive();
    await Promise.all([...first, ...tenants]);
  });

  it('leave a fifth of the places to those that were prompt last time, whatever names they have', async () => {
    const { deliver, open, at } = deliverer();
    await deliver('https://quick.example/hook');
    const hanging = Array.from({ length: 80 }, (_, n) =>
      deliver(`https://hangs-${n}.example/hook`, `of-name-${n % 2}`),
    );
    await until('all to be open', () => open.length === 80);
    await expect(deliver('https://hangs-80.example/hook')).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    expect(await deliver('https://quick.example/hook')).toMatchObject({ httpStatus: 200 });
    // A receiver that answers this slowly stays a stranger.
    at.nowMs += 2_001;
    open.shift()?.();
    await hanging[0];
    const stranger = deliver('https://hangs-0.example/hook', 'of-name-0');
    await until('it to be open', () => open.length === 80);
    await expect(deliver('https://hangs-81.example/hook')).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    for (const arrive of open.splice(0)) arrive();
    await Promise.all([...hanging, stranger]);
  });

  it('are remembered as prompt, although thousands of others came since', async () => {
    const { deliver, open } = deliverer();
    await deliver('https://quick.example/hook');
    for (let others = 0; others < 2_000; others += 100) {
      const each = Array.from({ length: 100 }, (_, n) => deliver(`https://dead-${others + n}.example/hook`));
      await Promise.allSettled(each);
    }
    const hanging = Array.from({ length: 80 }, (_, n) =>
      deliver(`https://hangs-${n}.example/hook`, `of-name-${n % 2}`),
    );
    await until('all to be open', () => open.length === 80);
    await expect(deliver('https://hangs-80.example/hook')).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    expect(await deliver('https://quick.example/hook')).toMatchObject({ httpStatus: 200 });
    for (const arrive of open.splice(0)) arrive();
    await Promise.all(hanging);
  });
});

const NOT_DELIVERED = { type: 'callback_not_delivered', nonRetryable: false };

/** The activity, on a clock of its own. Receivers that are called quick answer by themselves, those that hang when let go. */
function deliverer() {
  const at = { nowMs: Date.UTC(2026, 0, 1) };
  jest.spyOn(Date, 'now').mockImplementation(() => at.nowMs);
  const open: (() => void)[] = [];
  const counted: string[] = [];
  const metrics = { count: (_: string, { result }: { readonly result: string }) => void counted.push(result) };
  const send = ({ url }: { readonly url: string }) =>
    url.includes('broken')
      ? Promise.reject(new RangeError(url))
      : url.includes('quick')
        ? Promise.resolve({ httpStatus: 200, retryAfter: undefined })
        : !url.includes('hangs')
          ? Promise.reject(new CallbackUnreachableError('The receiver cannot be reached (no answer in time).'))
          : new Promise((resolve) => open.push(() => resolve({ httpStatus: 200, retryAfter: undefined })));
  const log = { info() {}, warn() {}, error() {} };
  const callbacks = { problemOf: () => undefined, send };
  const store = {
    audit: { ownersOf: ([name = '']: readonly string[]) => Promise.resolve(new Map([[name, { name, by: 'gift' }]])) },
  };
  const deps = { callbacks, store, log, metrics, monotonicMs: () => at.nowMs } as unknown as ActivityDeps;
  const activities = createCallbackActivities(deps);
  const deliver = (url: string, flowId = 'of-shop') => {
    const notification = { id: 'n', change: { timestamp: 't' }, skipped: [] } as never;
    const target = { flowId, url, timeScale: 1, notification, triedForMs: 60_000 };
    return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(() =>
      activities.deliverCallback(target),
    );
  };
  return { deliver, open, at, counted };
}

/** Takes every request and answers none, until it is released. */
async function hangingReceiver() {
  const answers = new Set<() => void>();
  let most = 0;
  let letsGo = false;
  const server: Server = createServer((request, response) => {
    request.resume();
    const answer = () => response.end();
    // An attempt that was on its way when all were let go would hang for its whole time limit, and its worker with it.
    if (letsGo) {
      answer();
      return;
    }
    answers.add(answer);
    most = Math.max(most, answers.size);
    response.once('close', () => answers.delete(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => answers.size,
    most: () => most,
    letGo: () => {
      letsGo = true;
      server.closeAllConnections();
    },
    close: () => new Promise((resolve) => void server.close(resolve)),
  };
}
