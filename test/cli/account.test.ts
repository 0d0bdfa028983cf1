import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { closedPort, run, type Ran } from './run.js';
import { secretBytes } from '../harness/secrets.js';

const TOKEN = 'canary-service-token';
const OLD = `whsec_${secretBytes(1).toString('base64')}`;
const CREATED = `whsec_${secretBytes(2).toString('base64')}`;
const VERIFICATION = 'canary-verification-token';
const ACCOUNT = {
  organization: 'Acme',
  product_name: 'Remit',
  first_name: 'Zyxwina',
  last_name: 'Canaryholder',
  email: 'zyxwina@example.com',
  phone: '+27821234567',
  country_code: 'ZAF',
};

describe('towline account', () => {
  let folder: string;
  let sandbox: Sandbox;
  let env: Record<string, string>;
  /** What every command printed unless the test asked for it. */
  const printed: string[] = [];
  /** What it gave out in files and on request: to be found nowhere else. */
  const secrets: string[] = [TOKEN, OLD, CREATED, VERIFICATION, 'Canaryholder'];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-account-'));
    sandbox = await startSandbox({ dbPath: join(folder, 'sandbox.db'), token: TOKEN });
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });
  let homes = 0;
  beforeEach(async () => {
    await control('DELETE', '/faults');
    homes += 1;
    const TOWLINE_HOME = join(folder, `home-${homes}`);
    env = {
      TOWLINE_HOME,
      SERVICE_BASE_URL: sandbox.url,
      DEVELOPMENT: 'true',
      SERVICE_TOKEN: TOKEN,
      WEBHOOK_SECRETS: OLD,
    };
  });

  /** No command prints a secret, nor leaves one in TOWLINE_HOME but in the files that are for it. */
  afterEach(async () => {
    expect(secrets.filter((secret) => printed.join('\n').includes(secret))).toEqual([]);
    const found: string[] = [];
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const isMeant = /\/account\/|webhook-secrets$|\/verification\.json$|\/sandbox\.db/.test(path);
      if (!entry.isFile() || isMeant) continue;
      const text = await readFile(path, 'latin1');
      found.push(...secrets.filter((secret) => text.includes(secret)).map(() => path));
    }
    expect(found).toEqual([]);
  });

  async function control(method: string, path: string, body?: unknown) {
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await (await fetch(`${sandbox.url}/_sandbox${path}`, { method, ...sent })).json()) as Record<
      string,
      unknown
    >;
  }
  const fault = (operation: string, kind: string) => control('POST', '/faults', { operation, kind });
  const hits = async () => JSON.stringify((await control('GET', '/faults'))['faults']).match(/"injected":(\d+)/)?.[1];
  const home = () => env['TOWLINE_HOME'] ?? '';
  const account = async (args: readonly string[], stdin?: unknown, more: Record<string, string> = {}): Promise<Ran> => {
    const text = typeof stdin === 'string' ? stdin : stdin === undefined ? '' : JSON.stringify(stdin);
    const ran = await run(['account', ...args], { ...env, ...more }, text);
    printed.push(args.includes('--stdout') ? ran.err : ran.out + ran.err);
    return ran;
  };
  const answersIn = async () => readdir(join(home(), 'account')).catch(() => []);
  /** The one answer that was written: its name and its text. */
  const answer = async () => {
    const [name = ''] = await answersIn();
    const path = join(home(), 'account', name);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    secrets.push(...(text.match(/(?:key|session|refresh|whsec)[-_][\w+/=-]{8,}/g) ?? []));
    return { name, text };
  };
  const kept = async () => {
    const path = join(home(), 'webhook-secrets');
    const text = await readFile(path, 'utf8').catch(() => '{"secrets":[]}');
    return (JSON.parse(text) as { secrets: { secret: string; until: string | null }[] }).secrets;
  };

  test('api-key writes a key that is a service token at once, for its owner alone', async () => {
    const { code, out } = await account(['api-key']);
    expect(code).toBe(0);
    const { name, text } = await answer();
    expect(name).toMatch(/^api-key-\d{8}T\d{9}Z$/);
    expect(out).toContain(join(home(), 'account', name));
    const file = join(home(), 'account', name);
    const { SERVICE_TOKEN: _none, ...rest } = env;
    const again = await run(['account', 'api-key', '--stdout'], { ...rest, SERVICE_TOKEN_FILE: file });
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/^key-/), err: '' });
    expect(again.out).not.toBe(text.trim());
    secrets.push(again.out);
  });

  test('verify takes the token alone or as JSON, and gives the session', async () => {
    expect((await account(['verify'], `${VERIFICATION}-1\n`)).code).toBe(0);
    expect(Object.keys(JSON.parse((await answer()).text))).toEqual(
      expect.arrayContaining(['token', 'refresh_token', 'session_id']),
    );
    const file = join(folder, 'verification.json');
    await writeFile(file, JSON.stringify({ verificationToken: `${VERIFICATION}-2` }));
    const { code, out } = await account(['verify', file, '--stdout'], undefined, { SERVICE_TOKEN: '' });
    expect(code).toBe(0);
    const session = JSON.parse(out) as { token: string; refresh_token: string };
    expect(session.token).toMatch(/^session-/);
    secrets.push(session.token, session.refresh_token);
    expect(await answersIn()).toHaveLength(1);
  });

  test('verify of a token that was used, or is none, is refused with the reason, and leaves no file', async () => {
    await account(['verify'], VERIFICATION);
    const used = await account(['verify'], VERIFICATION);
    expect(used).toMatchObject({
      code: 1,
      err: expect.stringContaining('400'),
    });
    expect(await account(['verify'], ' \n')).toMatchObject({ code: 1, err: expect.stringContaining('is empty') });
    expect(await account(['verify'], {})).toMatchObject({
      code: 1,
      err: expect.stringContaining('verificationToken: '),
    });
    expect(await answersIn()).toHaveLength(1);
  });

  test('create sends the account, takes its webhook secret along, and names what exists already', async () => {
    const { code } = await account(['create', '-'], { ...ACCOUNT, webhook_secret: CREATED }, { SERVICE_TOKEN: '' });
    expect(code).toBe(0);
    expect(JSON.parse((await answer()).text)).toMatchObject({ organization: 'Acme', email: ACCOUNT.email });
    expect(await kept()).toEqual([{ secret: CREATED, until: null }]);
    const again = await account(['create', '-'], { ...ACCOUNT, webhook_secret: OLD });
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('409') });
  });

  test.each([
    ['email', { email: undefined }],
    ['phone', { phone: '12' }],
    ['country_code', { country_code: 'XX' }],
    ['webhook_events.0', { webhook_events: ['nonsense'] }],
    ['webhook_secret', { webhook_secret: 'short' }],
    ['webhook_secret', { webhook_secret: 'whsec_not base64 at all' }],
  ])('create is refused for its %s before anything is sent, by name', async (member, more) => {
    await fault('createIntegrator', 'error-before');
    const { code, err } = await account(['create', '-'], { ...ACCOUNT, email: 'other@example.com', ...more });
    expect([code, err]).toEqual([1, expect.stringContaining(`  ${member}: `)]);
    expect(await hits()).toBe('0');
    expect(await answersIn()).toEqual([]);
  });

  test('webhook changes what its file has, and nothing else', async () => {
    const changes = { webhook_events: ['payment.confirmed'], webhook_url: 'https://example.com/hooks' };
    expect((await account(['webhook', '-'], changes)).code).toBe(0);
    expect(JSON.parse((await answer()).text)).toMatchObject(changes);
    expect(await kept()).toEqual([]);
    for (const [args, text] of [
      [['webhook'], ''],
      [['webhook', '-'], '{}'],
      [['webhook', '-'], '[]'],
      [['webhook', '-', '--rotate'], JSON.stringify({ webhook_secret: OLD })],
    ] as const) {
      expect((await account(args, text)).code).toBe(1);
    }
  });

  test('webhook --rotate: the new secret counts at once, the old ones for a while, even if they stay set', async () => {
    const { code, err } = await account(['webhook', '--rotate', '--overlap', '2']);
    expect(code).toBe(0);
    expect(err).toMatch(/\b2\b/);
    const { webhook_secret: fresh } = JSON.parse((await answer()).text) as { webhook_secret: string };
    expect(fresh).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [first, second] = await kept();
    expect(first).toEqual({ secret: fresh, until: null });
    expect(second?.secret).toBe(OLD);
    const leftMs = Date.parse(second?.until ?? '') - Date.now();
    expect(leftMs).toBeGreaterThan(1.9 * 3_600_000);
    expect(leftMs).toBeLessThanOrEqual(2 * 3_600_000);
    expect((await stat(join(home(), 'webhook-secrets'))).mode & 0o777).toBe(0o600);

    // Once more: the first one does not get longer, and only one has no end.
    await account(['webhook', '--rotate', '--stdout']).then(({ out }) => secrets.push(JSON.parse(out).webhook_secret));
    const after = await kept();
    expect(after.map(({ until }) => until === null)).toEqual([true, false, false]);
    expect(after.find(({ secret }) => secret === OLD)).toEqual(second);
  });

  test.each([
    ['unauthorized', 'SERVICE_TOKEN'],
    ['rate-limited', ''],
  ])('webhook --rotate after %s leaves the secrets as they were', async (kind, named) => {
    await fault('updateWebhook', kind);
    const { code, err } = await account(['webhook', '--rotate']);
    expect([code, err]).toEqual([1, expect.stringContaining(named)]);
    expect([await kept(), await answersIn(), await hits()]).toEqual([[], [], '1']);
  });

  test('webhook --rotate of a service that cannot be reached leaves the secrets as they were', async () => {
    const SERVICE_BASE_URL = `http://127.0.0.1:${await closedPort()}`;
    const { code, err } = await account(['webhook', '--rotate'], '', { SERVICE_BASE_URL });
    expect([code, err]).toEqual([4, expect.stringContaining('refused')]);
    expect([await kept(), await answersIn()]).toEqual([[], []]);
  });

  test.each(['answer-lost', 'error-after', 'garbage', 'reset-before'])(
    'webhook --rotate after %s: it is not known which one signs, so both count without an end',
    async (kind) => {
      await fault('updateWebhook', kind);
      expect((await account(['webhook', '--rotate'])).code).toBe(3);
      expect((await kept()).map(({ until }) => until)).toEqual([null]);
      expect(await hits()).toBe('1');
      secrets.push(...(await kept()).map(({ secret }) => secret));
      // The next one that succeeds ends them all.
      await control('DELETE', '/faults');
      await account(['webhook', '--rotate', '--stdout']).then(({ out }) =>
        secrets.push(JSON.parse(out).webhook_secret),
      );
      expect((await kept()).map(({ until }) => until === null)).toEqual([true, false, false]);
    },
  );

  test.each([
    ['createApiKey', ['api-key'], '', 'revoke the newest'],
    ['verifyHuman', ['verify'], 'canary-verification-token-3', 'ask for a new magic link'],
    [
      'createIntegrator',
      ['create', '-'],
      JSON.stringify({ ...ACCOUNT, email: 'b@example.com' }),
      'ask it, before you create',
    ],
  ])('%s is tried once, and an unknown outcome names what to check', async (operation, args, stdin, sentence) => {
    await fault(operation, 'error-before');
    const { code, err } = await account(args, stdin);
    expect([code, err]).toEqual([3, expect.stringContaining(sentence)]);
    expect([await hits(), await answersIn()]).toEqual(['1', []]);
  });

  test('an answer of another shape is kept as it came: a key that was made is not lost', async () => {
    const body = '{"ok":true,"apiKey":"key-in-another-shape"}';
    await control('POST', '/faults', { operation: 'createApiKey', kind: 'garbage', body });
    const { code, out, err } = await account(['api-key']);
    expect([code, err]).toEqual([3, expect.any(String)]);
    const { name, text } = await answer();
    expect(text).toBe(`${body}\n`);
    expect(out).toContain(join(home(), 'account', name));
  });

  test('a place for the answer is made before anything is sent', async () => {
    await fault('createApiKey', 'error-before');
    const there = join(folder, 'there');
    await writeFile(there, 'mine');
    const taken = await account(['api-key', '--out', there]);
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining(there) });
    expect(await readFile(there, 'utf8')).toBe('mine');
    expect((await account(['api-key', '--out', join(folder, 'no', 'folder')])).code).toBe(1);
    expect((await account(['api-key', '--out', join(folder, 'new'), '--stdout'])).code).toBe(1);
    expect(await hits()).toBe('0');
  });

  test('requires no token, keys or gateway address that it does not need, also for a service elsewhere', async () => {
    const elsewhere = { SERVICE_BASE_URL: 'https://service.invalid', DEVELOPMENT: '', SERVICE_TOKEN: '' };
    const created = await account(['create', '-'], ACCOUNT, elsewhere);
    expect(created).toMatchObject({ code: 4 });
    const key = await account(['api-key'], '', elsewhere);
    expect(key).toMatchObject({ code: 1, err: expect.stringContaining('SERVICE_TOKEN') });
    expect(key.err).not.toContain('PAYLOAD_KEYS');
  });

  test('takes no secret on the command line', async () => {
    for (const args of [
      ['verify', '--token', 'x'],
      ['webhook', '--secret', 'x'],
      ['api-key', '--token', 'x'],
    ]) {
      expect(await account(args)).toMatchObject({ code: 1, err: expect.stringContaining(args[1] ?? '') });
    }
  });
});
