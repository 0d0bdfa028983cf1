import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DEPOSIT, depositBody, QUOTE, type Rig, SEND, startRig, STEP_MS } from './start.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const fault = async (rule: object) => {
  const answer = await rig.control('POST', '/faults', { operation: 'createBridgeDeposit', ...rule });
  expect(answer.status).toBe(200);
  return answer.body.id as number;
};
const injections = async (reference: string) =>
  (await rig.control('GET', `/faults/log?reference=${reference}`)).body.injections as {
    kind: string;
    committed: boolean;
  }[];
/** The HTTP status, or `broken` if the connection broke without an answer. */
const outcomeOf = async (call: Promise<{ status: number }>) => call.then(({ status }) => status).catch(() => 'broken');
const send = (referenceId: string, over = {}) =>
  rig.call('POST', SEND, {
    receiverAddress: '0x1',
    chain: 'CELO',
    token: 'CUSD',
    cryptoAmount: 5,
    referenceId,
    ...over,
  });

describe('the faults of the sandbox', () => {
  it.each([
    ['fail-first', {}, 500, 0],
    ['error-before', { status: 503 }, 503, 0],
    ['error-after', { status: 502 }, 502, 1],
    ['rate-limited', {}, 429, 0],
    ['unauthorized', {}, 401, 0],
    ['reset-before', {}, 'broken', 0],
    ['answer-lost', {}, 'broken', 1],
    ['garbage', {}, 200, 1],
    ['slow', { delayMs: 5 }, 200, 1],
    ['duplicate-answer', {}, 409, 1],
    ['duplicate-answer', { commit: false, status: 400 }, 400, 0],
    ['refused', {}, 400, 0],
    ['refused', { commit: true, status: 422 }, 422, 1],
    ['page', {}, 403, 1],
    ['page', { commit: false, status: 429 }, 429, 0],
  ])('with %s %j answer %s with %i executions, and are logged', async (kind, options, status, executed) => {
    await fault({ kind, first: 1, ...options });
    expect(await outcomeOf(rig.deposit('r1'))).toBe(status);
    expect(await rig.executions('r1')).toBe(executed);
    expect(await injections('r1')).toMatchObject([{ kind, committed: executed === 1 }]);
    // The next request is served honestly: with the first answer, or a new one.
    expect((await rig.deposit('r1')).status).toBe(200);
    expect(await rig.executions('r1')).toBe(1);
  });

  it('are logged as not committed if the request was refused anyway', async () => {
    await fault({ kind: 'answer-lost', first: 1 });
    expect(await outcomeOf(rig.deposit('r1', { amount: 10.41 }))).toBe('broken');
    expect(await injections('r1')).toMatchObject([{ committed: false }]);
  });

  it('with late-commit execute late, by the sandbox’s clock, however the connection ended', async () => {
    await fault({ kind: 'late-commit', delayMs: 20_000, first: 1 });
    expect(await outcomeOf(rig.deposit('r1'))).toBe('broken');
    expect(await injections('r1')).toMatchObject([{ committed: false }]);
    await rig.advance(19_999);
    expect(await rig.executions('r1')).toBe(0);
    await rig.advance(1);
    expect(await rig.executions('r1')).toBe(1);
    expect(await injections('r1')).toMatchObject([{ committed: true }]);
    await rig.advance(20 * STEP_MS);
    expect((await rig.statuses('r1')).at(-1)).toBe('COMPLETED');
  });

  it('with late-commit leave the caller hanging, if ordered, and execute', async () => {
    await fault({ kind: 'late-commit', delayMs: 1_000, connection: 'hang', first: 1 });
    const abort = new AbortController();
    const call = fetch(rig.sandbox.url + DEPOSIT, {
      method: 'POST',
      body: JSON.stringify(depositBody('r1', 'http://127.0.0.1:9/x')),
      headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox-token' },
      signal: abort.signal,
    });
    while ((await injections('r1')).length === 0) await new Promise(setImmediate);
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await rig.advance(1_000);
    expect(await rig.executions('r1')).toBe(1);
  });

  it('with rate-limited answer 429 with each of the three spellings of the hint', async () => {
    const hints = ['header', 'data.retryAfter', 'retry_after'];
    for (const hint of hints) await fault({ kind: 'rate-limited', hint, retryAfterSeconds: 7, first: 1 });
    const answers = [await rig.deposit('r1'), await rig.deposit('r1'), await rig.deposit('r1')];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(answers[0]?.headers.get('retry-after')).toBe('7');
    expect(answers[1]?.body.data.retryAfter).toBe(7);
    expect(answers[2]?.body.retry_after).toBe(7);
  });

  it.each(['html', 'truncated', 'wrong-shape', 'no-reason', 'empty', 'not-an-object'])(
    'with garbage answer 200 with the variant %s',
    async (variant) => {
      await fault({ kind: 'garbage', variant, first: 1 });
      const answer = await rig.deposit('r1');
      expect(answer.status).toBe(200);
      expect(answer.body?.data?.kotani_reference_id).toBeUndefined();
      expect(await rig.executions('r1')).toBe(1);
    },
  );

  it('answer with exactly the text that is given', async () => {
    await fault({ kind: 'garbage', body: '{"success":true,"data":null}', first: 1 });
    expect((await rig.deposit('r1')).body).toEqual({ success: true, data: null });
  });

  it('are counted, listed and removed, and skip as many requests as they say', async () => {
    const id = await fault({ kind: 'error-before', skip: 1, first: 2 });
    const seen = [];
    for (let n = 0; n < 4; n += 1) seen.push((await rig.deposit(`r${n}`)).status);
    expect(seen).toEqual([200, 500, 500, 200]);
    expect((await rig.control('GET', '/faults')).body.faults).toMatchObject([{ id, injected: 2 }]);
    expect((await rig.control('DELETE', `/faults/${id}`)).body).toEqual({ removed: 1 });
    expect((await rig.control('GET', '/faults')).body.faults).toEqual([]);
    expect((await rig.control('GET', '/faults/log')).body.count).toBe(2);
  });

  it('meet only their operation and their reference', async () => {
    await fault({ kind: 'error-before', reference: 'r1' });
    expect((await rig.deposit('r2')).status).toBe(200);
    expect((await send('r1')).status).toBe(200);
    expect((await rig.deposit('r1')).status).toBe(500);
    await fault({ operation: 'getCryptoSend', kind: 'error-before', first: 1 });
    expect((await rig.call('GET', `${SEND}/r1`)).status).toBe(500);
    expect((await rig.call('GET', `${SEND}/r1`)).status).toBe(200);
  });

  it("are refused, with the member's path, if a rule makes no sense", async () => {
    const answer = await rig.control('POST', '/faults', { operation: 'nothing', kind: 'explode', rate: 2 });
    expect(answer.status).toBe(400);
    const paths = answer.body.data.errors.map((error: { path: string }) => error.path) as string[];
    expect(paths).toEqual(['operation', 'kind', 'rate']);
  });

  it('are the same for the same seed in whatever order the requests come', async () => {
    const hitsOf = async (references: readonly string[], seed: number) => {
      const other = await startRig({ seed, dbPath: ':memory:' });
      await other.control('POST', '/faults', { operation: 'quoteBridge', kind: 'error-before', rate: 0.3 });
      await other.control('POST', '/faults', { operation: 'sendCrypto', kind: 'error-before', rate: 0.3 });
      const body = { receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 5 };
      const hit = await Promise.all(
        references.map(async (referenceId) => {
          const { status } = await other.call('POST', SEND, { ...body, referenceId });
          return status === 500 ? [referenceId] : [];
        }),
      );
      await other.close();
      return hit.flat().toSorted();
    };
    const references = Array.from({ length: 40 }, (_, n) => `r${n}`);
    const first = await hitsOf(references, 7);
    expect(first.length).toBeGreaterThan(3);
    expect(first.length).toBeLessThan(25);
    expect(await hitsOf(references.toReversed(), 7)).toEqual(first);
    expect(await hitsOf(references, 8)).not.toEqual(first);
  });

  it('meet quotes, too', async () => {
    await fault({ operation: 'quoteBridge', kind: 'fail-first', first: 2 });
    const body = { source_currency: 'KES', source_amount: 10, crypto_chain: 'CELO', crypto_token: 'CUSD' };
    const seen = [];
    for (let n = 0; n < 3; n += 1) seen.push((await rig.call('POST', QUOTE, body)).status);
    expect(seen).toEqual([500, 500, 200]);
  });
});
