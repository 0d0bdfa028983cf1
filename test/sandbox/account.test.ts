import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AuthSession, Integrator, KycStatus } from '../../src/contract/account.js';
import type { Received } from './receiver.js';
import { create, historyOf } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const VERIFY = '/api/v3/auth/human-verify';
const API_KEY = '/api/v3/auth/api-key/secure';
const INTEGRATOR = '/api/v3/integrator';
const WEBHOOK = `${INTEGRATOR}/webhook`;

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const posts = (path = '/account') => rig.receiver.received.filter((post) => post.path === path);
const events = () => posts().map(({ body }) => body.event as string);

describe('the sandbox, at human verification,', () => {
  const verify = (verificationToken: string) => rig.call('POST', VERIFY, { verificationToken }, null);

  it('gives a session whose token works for an hour, and works once', async () => {
    const answer = await verify('a-token');
    const { token } = AuthSession.parse(answer.body.data);
    expect((await rig.call('GET', '/api/v3/kyc/status/k1', undefined, token)).status).toBe(200);
    expect((await verify('a-token')).status).toBe(400);
    await rig.advance(3_600_000);
    expect((await rig.call('GET', '/api/v3/kyc/status/k1', undefined, token)).status).toBe(401);
  });

  it('refuses tokens that are expired, invalid or empty as 400', async () => {
    expect((await verify('expired-1')).status).toBe(400);
    expect((await verify('invalid-1')).body.error_code).toBe('INVALID_VERIFICATION_TOKEN');
    expect((await verify('')).body.data.errors[0].path).toBe('verificationToken');
  });
});

describe('an API key of the sandbox', () => {
  it('is new each time, does not expire, and is presented as a bearer token', async () => {
    const keys = [await rig.call('GET', API_KEY), await rig.call('GET', API_KEY)].map(
      ({ body }) => body.data.key as string,
    );
    expect(new Set(keys).size).toBe(2);
    await rig.advance(365 * 24 * 3_600_000);
    for (const key of keys) expect((await rig.call('GET', API_KEY, undefined, key)).status).toBe(200);
    expect((await rig.call('GET', API_KEY, undefined, `${keys[0]}x`)).status).toBe(401);
    expect((await rig.call('GET', API_KEY, undefined, null)).status).toBe(401);
  });
});

const NEW_INTEGRATOR = {
  organization: 'Acme',
  product_name: 'Pay',
  first_name: 'Ada',
  last_name: 'L',
  email: 'ada@acme.example',
  phone: '+254712345678',
  country_code: 'KEN',
};

describe('an integrator of the sandbox', () => {
  it('is created without a token, shown without its secret, and only once for an email', async () => {
    const over = { webhook_url: `${rig.receiver.url}/account`, webhook_secret: 'hidden', webhook_events: [] };
    const answer = await rig.call('POST', INTEGRATOR, { ...NEW_INTEGRATOR, ...over }, null);
    expect(Integrator.parse(answer.body.data)).toMatchObject({ organization: 'Acme', webhook_url: over.webhook_url });
    expect(JSON.stringify(answer.body)).not.toContain('hidden');
    expect(JSON.stringify((await rig.control('GET', '/state')).body)).not.toContain('hidden');
    const again = await rig.call('POST', INTEGRATOR, NEW_INTEGRATOR, null);
    expect([again.status, again.body.error_code]).toEqual([409, 'INTEGRATOR_EXISTS']);
    await create(rig, 'createBankCheckout', 'r1');
    await rig.advance(10 * STEP_MS);
    expect(events()).toEqual(['transaction.deposit.status.updated', 'payment.confirmed']);
  });

  it('gets the events that it subscribed to, at its new URL, and no others', async () => {
    const update = (body: object) => rig.call('PATCH', WEBHOOK, body);
    await update({ webhook_url: `${rig.receiver.url}/old`, webhook_secret: 's' });
    const events = ['payment.confirmed', 'kyc.status.changed'];
    const answer = await update({ webhook_url: `${rig.receiver.url}/account`, webhook_events: events });
    expect(answer.body.data.webhook_events).toEqual(events);
    await create(rig, 'createBankCheckout', 'r1');
    await create(rig, 'createOfframp', 'r2');
    await rig.call('GET', '/api/v3/kyc/status/k1');
    await rig.advance(10 * STEP_MS);
    expect(
      posts()
        .map(({ body }) => body.event as string)
        .toSorted(),
    ).toEqual(events.toSorted());
    expect(posts('/old')).toEqual([]);
    expect((await update({ webhook_events: ['nonsense'] })).status).toBe(400);
    expect((await rig.call('PATCH', WEBHOOK, {}, null)).status).toBe(401);
  });

  it('gets events of bridge transfers and crypto sends, too', async () => {
    await rig.control('POST', '/settings', { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 's' });
    await rig.deposit('b1');
    await create(rig, 'sendCrypto', 's1');
    await rig.advance(10 * STEP_MS);
    const lines = posts().map(
      ({ body }) => `${body.event} ${body.data.provider_reference_id ?? body.data.referenceId}`,
    );
    expect(lines.filter((one) => one === 'transaction.status.updated b1')).toHaveLength(5);
    expect(lines.filter((one) => one === 'transaction.status.updated s1')).toHaveLength(1);
  });

  it('gets events signed with its old secret for as long as the sandbox takes to switch', async () => {
    await rig.control('POST', '/settings', { webhookProfile: 'kotani', secretSwitchMs: 10_000 });
    await rig.call('PATCH', WEBHOOK, { webhook_url: `${rig.receiver.url}/account`, webhook_secret: 'old secret' });
    await rig.call('PATCH', WEBHOOK, { webhook_secret: 'new secret' });
    const signedBy = async () => {
      await rig.control('POST', '/system-event', { data: { note: 'hello' } });
      await rig.advance(0);
      const { headers, body } = posts().at(-1) as Received;
      const signed = JSON.stringify({ event: body.event, data: body.data });
      return ['old secret', 'new secret'].find(
        (secret) =>
          headers['x-kotani-signature'] === `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`,
      );
    };
    expect(await signedBy()).toBe('old secret');
    await rig.advance(10_000);
    expect(await signedBy()).toBe('new secret');
  });

  it('gets a system event only if it subscribed to it', async () => {
    await rig.control('POST', '/settings', { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 's' });
    expect((await rig.control('POST', '/system-event', {})).body).toEqual({ deliveries: 1 });
    await rig.control('POST', '/settings', { webhookEvents: ['payment.confirmed'] });
    expect((await rig.control('POST', '/system-event', {})).body).toEqual({ deliveries: 0 });
    await rig.advance(0);
    expect(events()).toEqual(['system.event']);
  });
});

describe('a KYC record of the sandbox', () => {
  const look = async (kycId: string) =>
    KycStatus.parse((await rig.call('GET', `/api/v3/kyc/status/${kycId}`)).body.data);

  it.each([
    ['k1', 'PENDING', 'APPROVED', true],
    ['id-approved', 'PENDING', 'APPROVED', true],
    ['id-rejected', 'PENDING', 'REJECTED', false],
    ['id-pending', 'PENDING', 'PENDING', false],
    ['id-review', 'PENDING', 'IN_REVIEW', false],
    ['already-approved-1', 'APPROVED', 'APPROVED', true],
    ['already-rejected-1', 'REJECTED', 'REJECTED', false],
  ])('with the id %s is %s at the first lookup, and then %s', async (kycId, first, later, kycStatus) => {
    await rig.control('POST', '/settings', { webhookUrl: `${rig.receiver.url}/account`, webhookSecret: 's' });
    expect(await look(kycId)).toMatchObject({ status: first, kycId });
    await rig.advance(10 * STEP_MS);
    expect(await look(kycId)).toEqual({ status: later, kycId, kycStatus });
    expect(events()).toEqual(first === later ? [] : ['kyc.status.changed']);
    expect(await rig.executions(kycId, 'getKycStatus')).toBe(0);
  });

  it('is there for an id of 128 characters, and not (404) for a text that can be none', async () => {
    for (const id of ['%C2%84', 'a%20b', '-a']) {
      expect((await rig.call('GET', `/api/v3/kyc/status/${id}`)).status).toBe(404);
    }
    expect((await rig.call('GET', `/api/v3/kyc/status/${'a'.repeat(128)}`)).status).toBe(200);
  });

  it('is not there (404), ends by a scenario, or takes its time, by its id', async () => {
    expect((await rig.call('GET', '/api/v3/kyc/status/unknown-1')).status).toBe(404);
    await rig.control('POST', '/scenarios', { reference: 'k2', ending: 'kyc-rejected' });
    await look('k2');
    await look('k-slow');
    await rig.advance(10 * STEP_MS);
    expect(await historyOf(rig, 'k2')).toEqual(['PENDING', 'REJECTED']);
    expect(await historyOf(rig, 'k-slow')).toEqual(['PENDING']);
    await rig.advance(10 * STEP_MS);
    expect(await historyOf(rig, 'k-slow')).toEqual(['PENDING', 'APPROVED']);
  });
});
