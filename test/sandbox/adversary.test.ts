import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { guessedUrl, lie, tamper } from '../../src/sandbox/deliveries/adversary.js';
import type { SandboxOptions } from '../../src/sandbox/sandbox.js';
import { create } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const SECRET = 'the service’s secret';
let rig: Rig;
const rigs: Rig[] = [];
const start = async (options: Partial<SandboxOptions> = {}) => {
  rig = await startRig({ callbackSecret: SECRET, callbackProfile: 'kotani', vocabulary: 'live', ...options });
  rigs.push(rig);
  return rig;
};
beforeEach(() => start());
afterEach(async () => {
  for (const one of rigs.splice(0)) await one.close();
});

const adversary = (mischief: object) => rig.control('POST', '/adversary', mischief);
const offramp = (reference = 'r1', over = {}) => create(rig, 'createOfframp', reference, over);
const posts = (path?: string) => rig.receiver.received.filter((post) => path === undefined || post.path === path);
const statuses = () => posts().map(({ body }) => body.data.status as string);
const deliveries = async (query = '') =>
  (await rig.control('GET', `/deliveries${query}`)).body.deliveries as {
    id: number;
    note: string;
    state: string;
    status: string;
    tries: number;
    reference: string;
    attempts: { status: number | null; answer: string }[];
  }[];
const isSigned = (post: { text: string; headers: Record<string, unknown> }) => {
  const cut = post.text.replace(/,"signature":"[0-9a-f]{64}"\}$/, '}');
  return post.headers['x-kotani-signature'] === `sha256=${createHmac('sha256', SECRET).update(cut).digest('hex')}`;
};

describe('the adversary of the sandbox', () => {
  it('with reorder delivers later statuses before earlier ones, and all of them in the end', async () => {
    await adversary({ reorder: 0.5 });
    for (let n = 0; n < 6; n += 1) await offramp(`r${n}`, { cryptoAmount: 10.13 });
    await rig.advance(20 * STEP_MS);
    const way = ['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING', 'REFUNDED'];
    const orders = Array.from({ length: 6 }, (_, n) =>
      posts(`/callbacks/r${n}`).map(({ body }) => body.data.status as string),
    );
    for (const order of orders) expect(order.toSorted()).toEqual(way.toSorted());
    expect(orders.some((order) => order.join() !== way.join())).toBe(true);
  });

  it('with delay delivers after the given time', async () => {
    await adversary({ delay: 1, delayMs: 60_000 });
    await offramp();
    await rig.advance(STEP_MS + 59_999);
    expect(statuses()).toEqual([]);
    await rig.advance(1);
    expect(statuses()).toEqual(['CRYPTO_RECEIVED']);
  });

  it('with dropFirst loses the first attempt of a delivery, and not the next one', async () => {
    await adversary({ dropFirst: 1 });
    await offramp();
    await rig.advance(STEP_MS);
    expect(statuses()).toEqual([]);
    await rig.advance(499);
    expect(statuses()).toEqual([]);
    await rig.advance(1);
    expect(statuses()).toEqual(['CRYPTO_RECEIVED']);
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ state: 'delivered', tries: 2 });
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([null, 200]);
  });

  it('loses every attempt of some deliveries with drop, and all deliveries of some references with mute', async () => {
    await adversary({ drop: 0.5 });
    for (let n = 0; n < 10; n += 1) await offramp(`d${n}`);
    await rig.advance(3_600_000);
    const dropped = (await deliveries('?state=dropped')).length;
    expect(dropped).toBeGreaterThan(3);
    expect(posts()).toHaveLength(20 - dropped);
    await adversary({ mute: 0.5 });
    for (let n = 0; n < 10; n += 1) await offramp(`m${n}`);
    await rig.advance(3_600_000);
    const counts = Array.from({ length: 10 }, (_, n) => posts(`/callbacks/m${n}`).length);
    expect(new Set(counts)).toEqual(new Set([0, 2]));
  });

  it('with forged adds to each delivery a forgery without a signature, to a guessed URL', async () => {
    await adversary({ forged: 1 });
    for (let n = 0; n < 8; n += 1) await offramp(`capability-${n}`);
    await rig.advance(3_600_000);
    const genuine = posts().filter(({ path }) => path.startsWith('/callbacks/capability-'));
    const forged = posts().filter((post) => !genuine.includes(post));
    expect([genuine.length, forged.length]).toEqual([16, 16]);
    expect(genuine.every(isSigned)).toBe(true);
    expect(forged.some(isSigned)).toBe(false);
    expect(forged.every(({ path }) => /^\/callbacks\/[0-9a-f]{12}$/.test(path))).toBe(true);
    expect(new Set(forged.map(({ headers }) => 'x-kotani-signature' in headers))).toEqual(new Set([true, false]));
    expect(new Set(forged.map(({ body }) => body.data.status as string))).toEqual(new Set(['SUCCESSFUL', 'FAILED']));
    const tries = (await deliveries()).filter(({ note }) => note === 'forged').map((delivery) => delivery.tries);
    expect(tries).toEqual(Array(16).fill(1));
  });

  it('with forgerKnowsUrl forges to the right URL, also at the account’s webhook', async () => {
    const webhook = { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: SECRET, webhookProfile: 'kotani' };
    await rig.control('POST', '/settings', webhook);
    await adversary({ stream: 'webhook', forged: 1, tampered: 1, forgerKnowsUrl: true });
    await offramp();
    await rig.advance(STEP_MS);
    expect(posts('/account')).toHaveLength(3);
    expect(posts('/account').filter(isSigned)).toHaveLength(1);
    expect(posts('/callbacks/r1').filter(isSigned)).toHaveLength(1);
  });

  it('with tampered changes a delivery and keeps its signature', async () => {
    await adversary({ tampered: 1 });
    for (let n = 0; n < 8; n += 1) await create(rig, 'createBankCheckout', `r${n}`);
    await rig.advance(3 * STEP_MS);
    const genuine = posts().filter(isSigned);
    const tampered = posts().filter((post) => !isSigned(post));
    expect([genuine.length, tampered.length]).toEqual([16, 16]);
    expect(tampered.some(({ body }) => body.data.amount === 2_500)).toBe(true);
  });

  it('with early calls back before the POST is answered, for every kind', async () => {
    await adversary({ early: true });
    let answered = false;
    const heardFirst: boolean[] = [];
    rig.receiver.onPost = () => void heardFirst.push(!answered);
    const names = ['createOnramp', 'createOfframp', 'createBankCheckout', 'createBankWithdrawal'] as const;
    for (const name of names) {
      answered = false;
      const answer = await create(rig, name, name);
      answered = true;
      expect(answer.status).toBe(200);
    }
    expect(heardFirst).toEqual([true, true, true, true]);
    await rig.advance(20 * STEP_MS);
    expect((await rig.control('GET', '/transactions/createOfframp')).body.transactions[0].status).toBe('SUCCESS');
  });

  it('does the same for the same seed, and something else for another', async () => {
    const play = async (seed: number) => {
      await start({ seed });
      await adversary({
        duplicate: 0.3,
        tampered: 0.3,
        forged: 0.3,
        reorder: 0.3,
        delay: 0.3,
        dropFirst: 0.3,
        drop: 0.2,
      });
      for (let n = 0; n < 8; n += 1) await offramp(`r${n}`, { cryptoAmount: 10.13 });
      await rig.advance(3_600_000);
      return (await deliveries()).map(
        ({ note, reference, status, state, tries }) => `${note} ${reference} ${status} ${state} ${tries}`,
      );
    };
    const first = await play(5);
    expect(first.length).toBeGreaterThan(40);
    expect((await play(5)).toSorted()).toEqual(first.toSorted());
    expect((await play(6)).toSorted()).not.toEqual(first.toSorted());
  });
});

describe("a forgery by the sandbox's control", () => {
  it('of a callback has all facts and no signature, and goes to the given URL', async () => {
    await offramp();
    await rig.control('POST', '/forge', { reference: 'r1', status: 'SUCCESS', url: `${rig.receiver.url}/elsewhere` });
    await rig.control('POST', '/forge', { reference: 'r1' });
    expect(posts().map(({ path, body }) => [path, body.status as string])).toEqual([
      ['/elsewhere', 'SUCCESS'],
      ['/callbacks/r1', 'SUCCESSFUL'],
    ]);
    expect(posts()[0]?.body).toMatchObject({ referenceId: 'r1', cryptoAmount: 10 });
    expect((await rig.control('POST', '/forge', { reference: 'none' })).status).toBe(404);
  });
});

describe('a delivery of the sandbox', () => {
  it('is resent by control, with the same content, and shown with every attempt', async () => {
    await offramp();
    await rig.advance(STEP_MS);
    const [delivery] = await deliveries('?reference=r1&stream=callback');
    const resent = await rig.control('POST', `/deliveries/${delivery?.id}/resend`);
    expect(resent.body).toMatchObject({ id: delivery?.id, state: 'delivered', tries: 2 });
    expect(posts()).toHaveLength(2);
    expect(posts()[0]?.text).toBe(posts()[1]?.text);
    expect((await rig.control('POST', '/deliveries/999/resend')).status).toBe(404);
  });

  it('that was dropped is delivered by a resend, which is not tried again if it fails', async () => {
    await adversary({ drop: 1 });
    await offramp();
    await rig.advance(STEP_MS);
    const [dropped] = await deliveries();
    expect(dropped?.state).toBe('dropped');
    const resend = () => rig.control('POST', `/deliveries/${dropped?.id}/resend`);
    rig.receiver.answer(500);
    expect((await resend()).body).toMatchObject({ state: 'dropped', tries: 1 });
    await rig.advance(3_600_000);
    expect(posts()).toHaveLength(1);
    rig.receiver.answer(200);
    expect((await resend()).body).toMatchObject({ state: 'delivered', tries: 2 });
  });

  it('that was resent with success is not tried again', async () => {
    rig.receiver.answer(500);
    await create(rig, 'createOfframp', 'r1', { cryptoAmount: 10.18 });
    await rig.advance(STEP_MS);
    const [pending] = await deliveries('?state=pending');
    rig.receiver.answer(200);
    await rig.control('POST', `/deliveries/${pending?.id}/resend`);
    await rig.advance(3_600_000);
    expect(posts()).toHaveLength(2);
  });
});

describe('the attacker of the sandbox', () => {
  it('changes a message to another ending of its kind, or to another amount', () => {
    expect(JSON.parse(lie('{"kotani_reference_id":"k","status":"SETTLING"}'))).toMatchObject({ status: 'COMPLETED' });
    expect(JSON.parse(lie('{"status":"SUCCESS"}'))).toEqual({ status: 'FAILED' });
    expect(JSON.parse(tamper('{"data":{"fiatAmount":"7","status":"PENDING"}}', 0))).toMatchObject({
      data: { fiatAmount: '70' },
    });
    expect(JSON.parse(tamper('{"status":"PENDING"}', 0))).toEqual({ status: 'SUCCESSFUL' });
  });

  it('guesses a URL of the same form with another last part', () => {
    const guess = guessedUrl('http://127.0.0.1:1/callbacks/offramp/r1/abcdef?x=1');
    expect(guess).toMatch(/^http:\/\/127\.0\.0\.1:1\/callbacks\/offramp\/r1\/[0-9a-f]{6}\?x=1$/);
    expect(guess).not.toContain('abcdef');
  });
});
