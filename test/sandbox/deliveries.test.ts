import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { SandboxOptions } from '../../src/sandbox/sandbox.js';
import type { Received } from './receiver.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const SECRET = `whsec_${Buffer.from('the provider’s own secret').toString('base64')}`;
const CALLBACK_SECRET = Buffer.from('the service’s own secret').toString('base64');

const rigs: Rig[] = [];
const start = async (options: Partial<SandboxOptions> = {}) => {
  const rig = await startRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

const isGenuine = (secret: string, { text, headers }: Received) => {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('deliveries of the sandbox', () => {
  it('of the provider are signed by Standard Webhooks, whatever time the sandbox has', async () => {
    const gateway = await start();
    const rig = await start({ settlementUrl: `${gateway.receiver.url}/s`, settlementSecret: SECRET });
    await rig.advance(365 * 24 * 3_600_000);
    await rig.deposit('r1');
    await rig.advance(10 * STEP_MS);
    expect(gateway.receiver.received).toHaveLength(2);
    expect(gateway.receiver.received.every((post) => isGenuine(SECRET, post))).toBe(true);
    expect(rig.receiver.received[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  it('of the service are signed, and in an envelope, if there is a secret', async () => {
    const rig = await start({ callbackSecret: CALLBACK_SECRET });
    await rig.deposit('r1');
    await rig.advance(STEP_MS);
    const [post] = rig.receiver.received;
    expect(post && isGenuine(CALLBACK_SECRET, post)).toBe(true);
    expect(post?.body).toMatchObject({
      event: 'transaction.status.updated',
      data: { provider_reference_id: 'r1', status: 'DEPOSIT_CONFIRMED' },
    });
  });

  it('are tried again after 0.5, 1, 2 s … until they are answered 2xx, under one id', async () => {
    const rig = await start({ callbackSecret: CALLBACK_SECRET });
    rig.receiver.answer(500, 302, 429, 200);
    await rig.control('POST', '/scenarios', { reference: 'r1', ending: 'no-settlement-ever' });
    await rig.deposit('r1');
    await rig.control('POST', '/settings', { stepMs: 3_600_000 });
    await rig.advance(STEP_MS);
    expect(rig.receiver.received).toHaveLength(1);
    for (const wait of [500, 1_000, 2_000]) {
      const before = rig.receiver.received.length;
      await rig.advance(wait - 1);
      expect(rig.receiver.received).toHaveLength(before);
      await rig.advance(1);
      expect(rig.receiver.received).toHaveLength(before + 1);
    }
    const [delivery] = (await rig.control('GET', '/deliveries?reference=r1')).body.deliveries;
    expect(delivery).toMatchObject({ state: 'delivered', tries: 4, note: 'genuine', status: 'DEPOSIT_CONFIRMED' });
    expect(delivery.attempts.map(({ status }: { status: number }) => status)).toEqual([500, 302, 429, 200]);
    expect(new Set(rig.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(rig.receiver.received.map(({ text }) => text)).size).toBe(1);
    expect(rig.receiver.received.every(({ path }) => path === '/callbacks/r1')).toBe(true);
  });

  it('to a receiver that is not there are given up in the end', async () => {
    const rig = await start();
    await rig.control('POST', '/settings', { retryForMs: 10_000 });
    await rig.control('POST', '/scenarios', { reference: 'r1', ending: 'failed-early' });
    await rig.deposit('r1', { callback_url: 'http://127.0.0.1:9/nobody' });
    await rig.advance(3_600_000);
    const [delivery] = (await rig.control('GET', '/deliveries?reference=r1')).body.deliveries;
    expect(delivery).toMatchObject({ state: 'given-up', tries: 5 });
    expect(delivery.attempts[0]).toMatchObject({ status: null, answer: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('the adversary of the sandbox, for bridge deposits,', () => {
  it('with duplicate delivers copies with the same content, under the same id or a new one', async () => {
    const rig = await start({ callbackSecret: CALLBACK_SECRET });
    await rig.control('POST', '/adversary', { stream: 'callback', duplicate: 7 });
    await rig.deposit('r1');
    await rig.advance(STEP_MS);
    const { received } = rig.receiver;
    expect(received).toHaveLength(8);
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
    const ids = new Set(received.map(({ headers }) => headers['webhook-id'])).size;
    expect(ids).toBeGreaterThan(1);
    expect(ids).toBeLessThan(8);
    expect(received.every((post) => isGenuine(CALLBACK_SECRET, post))).toBe(true);
  });

  it('with tampered adds to each settlement a changed copy that its signature does not fit, and tries it once', async () => {
    const gateway = await start();
    const rig = await start({ settlementUrl: `${gateway.receiver.url}/s`, settlementSecret: SECRET });
    await rig.control('POST', '/adversary', { stream: 'settlement', tampered: 1 });
    gateway.receiver.onPost = (post) => gateway.receiver.answer(isGenuine(SECRET, post) ? 200 : 401);
    for (let n = 0; n < 10; n += 1) await rig.deposit(`r${n}`);
    await rig.advance(3_600_000);
    const posts = gateway.receiver.received;
    expect(posts).toHaveLength(40);
    expect(posts.filter((post) => isGenuine(SECRET, post))).toHaveLength(20);
    const forged = posts.filter((post) => !isGenuine(SECRET, post));
    expect(forged.some(({ body }) => body.settlement_details?.amount === 1155)).toBe(true);
    expect(forged.some(({ body }) => body.status === 'FAILED' || body.status === 'COMPLETED')).toBe(true);
  });

  it('with early calls back before the POST is answered', async () => {
    const rig = await start();
    await rig.control('POST', '/adversary', { early: true });
    let answered = false;
    let heardFirst = false;
    rig.receiver.onPost = () => void (heardFirst ||= !answered);
    const answer = await rig.deposit('r1');
    answered = true;
    expect(heardFirst).toBe(true);
    expect(answer.body.data.status).toBe('DEPOSIT_INITIATED');
    expect(await rig.statuses('r1')).toEqual(['DEPOSIT_INITIATED', 'DEPOSIT_CONFIRMED']);
    await rig.advance(10 * STEP_MS);
    expect((await rig.statuses('r1')).at(-1)).toBe('COMPLETED');
    expect(rig.receiver.received).toHaveLength(5);
  });

  it('does the same for the same seed, and nothing once it is stopped', async () => {
    const duplicates = async (seed: number) => {
      const rig = await start({ seed });
      await rig.control('POST', '/adversary', { duplicate: 0.3 });
      for (let n = 0; n < 10; n += 1) await rig.deposit(`r${n}`, { amount: 10.11 });
      await rig.advance(10 * STEP_MS);
      const { deliveries } = (await rig.control('GET', '/deliveries')).body;
      return (deliveries as { note: string; reference: string; status: string }[])
        .filter(({ note }) => note === 'duplicate')
        .map(({ reference, status }) => `${reference} ${status}`);
    };
    const first = await duplicates(3);
    expect(first.length).toBeGreaterThan(5);
    expect(first.length).toBeLessThan(30);
    expect(await duplicates(3)).toEqual(first);

    const rig = await start();
    await rig.control('POST', '/adversary', { duplicate: 1 });
    await rig.control('POST', '/adversary', {});
    await rig.deposit('r1');
    await rig.advance(STEP_MS);
    expect(rig.receiver.received).toHaveLength(1);
  });

  it('forges, by control, an unsigned settlement with every fact right, and returns the answer to it', async () => {
    const gateway = await start();
    const rig = await start({ settlementUrl: `${gateway.receiver.url}/s`, settlementSecret: SECRET });
    const { body } = await rig.deposit('r1');
    gateway.receiver.answer(202);
    const forged = await rig.control('POST', '/forge', { reference: 'r1', members: { metadata: { by: 'nobody' } } });
    expect(forged.body.answer).toEqual({ status: 202, text: 'noted' });
    const [post] = gateway.receiver.received;
    expect(post?.headers).not.toHaveProperty('webhook-signature');
    expect(post?.body).toMatchObject({
      status: 'COMPLETED',
      kotani_reference_id: body.data.kotani_reference_id,
      settlement_details: { amount: 115.5, currency: 'GHS' },
      metadata: { by: 'nobody' },
    });
    expect((await rig.control('POST', '/forge', { reference: 'none' })).status).toBe(404);
  });
});
