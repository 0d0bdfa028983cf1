import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, importJWK, SignJWT } from 'jose';
import { checkOidc } from '../../src/cli/doctor/check-oidc.js';
import { readSettings } from '../../src/config/index.js';
import { createOidcCheck } from '../../src/gateway/http/oidc.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newSigningKey, openIssuer, type TestIssuer } from '../harness/oidc-issuer.js';
import { until } from '../harness/until.js';

const UI = 'https://temporal-ui.test';

describe('a token of an OIDC issuer', () => {
  let issuer: TestIssuer;
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    issuer = await openIssuer(await newSigningKey('first'));
    tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: {
        OIDC_ISSUER: issuer.url,
        OIDC_AUDIENCE: 'towline,temporal-ui',
        OIDC_ROLES: 'look=viewer,oncall=operator,lead=admin',
      },
      gateway: { uiOrigin: UI },
    });
  });
  afterAll(async () => {
    await tested.close();
    await issuer.close();
  });

  const ask = async (token: string, path = '/whoami') => {
    const answer = await fetch(tested.url + path, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const decode = async (headers: Record<string, string>) => {
    const answer = await fetch(`${tested.url}/codec/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: UI, ...headers },
      body: '{"payloads":[]}',
    });
    await answer.text();
    return answer.status;
  };
  const decodings = async () =>
    (await tested.store.audit.list({ kind: 'decode', limit: 1 })).map(({ actor, means }) => `${actor} ${means}`);

  it('identifies the caller by its subject, and their roles by its claim', async () => {
    const token = await issuer.accessToken({ subject: 'auth0|ann', role: ['look', 'oncall', 'unknown'] });
    const { body: me } = await ask(token);
    expect(me).toMatchObject({ name: 'oidc:auth0|ann', role: 'viewer+operator' });
    expect((await ask(token, '/audit')).status).toBe(403);
    const lead = await issuer.accessToken({ subject: 'bea', role: 'lead' });
    // The refusal is answered before its entry is written.
    const entries = await until('the entry of the refusal', async () => {
      const { body } = await ask(lead, '/audit?kind=refused&actor=oidc:auth0|ann');
      const found = body['entries'] as unknown[];
      return found.length > 0 && found;
    });
    expect(entries).toMatchObject([
      { action: 'read-audit', actor: 'oidc:auth0|ann', role: 'viewer+operator', means: 'oidc' },
    ]);
    // The tokens of the gateway work beside it.
    expect((await ask('dev-token')).status).toBe(200);
  });

  it('may be as large as one with some hundred groups is', async () => {
    const groups = Array.from({ length: 250 }, () => randomUUID());
    const token = await issuer.accessToken({ subject: 'ann', role: ['oncall', ...groups] });
    expect(token.length).toBeGreaterThan(12_000);
    expect(await ask(token)).toMatchObject({ status: 200, body: { role: 'operator' } });
  });

  it('is refused without a role, for another audience, or with a subject that is no name', async () => {
    const refused = async (options: Parameters<TestIssuer['accessToken']>[0], path?: string) =>
      ask(await issuer.accessToken(options), path);
    expect(await refused({ subject: 'ann' })).toMatchObject({
      status: 403,
      body: { data: { code: 'no_role' } },
    });
    expect((await refused({ subject: 'ann', role: 'root' })).status).toBe(403);
    expect(await refused({ subject: 'ann', role: 'lead', audience: 'another' })).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('"aud"'), data: { code: 'refused_token' } },
    });
    expect((await refused({ subject: 'ann\u001b[2J', role: 'lead' })).status).toBe(401);
  });

  it('is refused if it is not signed by the issuer, or with a key that anyone could use', async () => {
    const token = await issuer.accessToken({ subject: 'ann', role: 'lead' });
    const [head = '', body = '', signature = ''] = token.split('.');
    const changed = Buffer.from(body, 'base64url').toString().replace('"ann"', '"eve"');
    const forged = `${head}.${Buffer.from(changed).toString('base64url')}.${signature}`;
    expect(await ask(forged)).toMatchObject({
      status: 401,
      body: { data: { code: 'refused_token' } },
    });
    const claims = () =>
      new SignJWT({ towline_role: 'lead' }).setSubject('eve').setIssuer(issuer.url).setAudience('towline');
    const secret = new TextEncoder().encode('a secret that is long enough for it');
    const { privateKey } = await generateKeyPair('RS256');
    const signed = (alg: string, kid: string, key: typeof privateKey | Uint8Array) =>
      claims().setExpirationTime('1h').setProtectedHeader({ alg, kid }).sign(key);
    const tokens = [
      await signed('HS256', 'first', secret),
      await signed('RS256', 'first', privateKey),
      await signed('RS256', 'unknown', privateKey),
      await claims().setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`,
      `${head}.${body}.`,
    ];
    for (const one of tokens) expect((await ask(one)).status).toBe(401);
  });

  it('decodes for the Temporal UI behind a login: by its access token, or by the id token beside it; and that is recorded', async () => {
    const preflight = await fetch(`${tested.url}/codec/decode`, { method: 'OPTIONS', headers: { origin: UI } });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(UI);
    const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ') ?? [];
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'authorization-extras', 'x-namespace']));

    const [ann, bea] = [
      await issuer.accessToken({ subject: 'ann', role: 'oncall' }),
      await issuer.accessToken({ subject: 'bea', role: 'oncall', audience: 'temporal-ui' }),
    ];
    expect(await decode({ authorization: `Bearer ${ann}` })).toBe(200);
    expect(await decodings()).toEqual(['oidc:ann oidc']);
    // An access token that only the issuer can read, and the id token, which is for the UI.
    expect(await decode({ authorization: 'Bearer opaque-access-token', 'authorization-extras': bea })).toBe(200);
    expect(await decodings()).toEqual(['oidc:bea oidc']);
    const viewer = await issuer.accessToken({ subject: 'vic', role: 'look' });
    expect(await decode({ authorization: `Bearer ${viewer}` })).toBe(403);
    expect(await decode({ authorization: 'Bearer opaque-access-token' })).toBe(401);
    expect(await decode({ authorization: 'Bearer opaque', 'authorization-extras': 'dev-token' })).toBe(401);
    // Only there: everything else uses only `Authorization` and the first audience; otherwise one person could have two
    // names.
    expect(await decode({ authorization: `Bearer ${bea}` })).toBe(200);
    expect((await ask(bea)).status).toBe(401);
    const answer = await fetch(`${tested.url}/whoami`, { headers: { 'authorization-extras': bea } });
    expect(answer.status).toBe(401);
  });
});

describe('an OIDC issuer that gives a person another subject for each client', () => {
  it('needs the claim that is one for all of them, and by that one the person has one name', async () => {
    const issuer = await openIssuer(await newSigningKey('first'), 0, ['pairwise']);
    try {
      const checkBy = (more: Record<string, string>) => {
        const { oidc } = readSettings({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'towline,temporal-ui', ...more });
        if (oidc === undefined) throw new Error('no OIDC settings');
        return createOidcCheck(oidc);
      };
      for (const subject of ['of-the-console', 'of-the-command-line']) {
        const token = await issuer.accessToken({ subject, oid: 'ann', role: 'operator' });
        await expect(checkBy({}).verify(token)).rejects.toMatchObject({
          status: 503,
          message: expect.stringContaining('OIDC_NAME_CLAIM'),
        });
        expect(await checkBy({ OIDC_NAME_CLAIM: 'oid' }).verify(token)).toEqual({ name: 'oidc:ann', role: 'operator' });
      }
    } finally {
      await issuer.close();
    }
  });
});

describe('whose token the issuer made', () => {
  it('is a login of a client that OIDC_AUDIENCE has, by an access or id token', async () => {
    const key = await newSigningKey('first');
    const issuer = await openIssuer(key);
    try {
      const { oidc } = readSettings({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'towline,console' });
      if (oidc === undefined) throw new Error('no OIDC settings');
      const check = createOidcCheck(oidc);
      const verify = async (claims: object, typ: string | undefined = 'at+jwt', isToDecode = false) => {
        const token = await new SignJWT({ aud: ['wiki', 'towline'], ...claims })
          .setSubject('ann')
          .setIssuer(issuer.url)
          .setExpirationTime('1h')
          .setProtectedHeader({ alg: 'RS256', kid: 'first', ...(typ === undefined ? {} : { typ }) })
          .sign(await importJWK(key, 'RS256'));
        return check.verify(token, isToDecode).then(
          ({ name }) => name,
          ({ status }: { status: number }) => status,
        );
      };
      for (const claim of ['azp', 'client_id', 'appid']) {
        expect(await verify({ [claim]: 'console' })).toBe('oidc:ann');
        for (const theirs of ['wiki', ['console'], '']) {
          expect(await verify({ [claim]: theirs })).toBe(401);
          expect(await verify({ [claim]: theirs }, 'JWT', true)).toBe(401);
        }
      }
      expect(await verify({ aud: 'towline' })).toBe('oidc:ann');
      for (const typ of ['JWT', 'application/at+jwt', undefined]) expect(await verify({}, typ)).toBe('oidc:ann');
      for (const typ of ['logout+jwt', 'dpop+jwt', 'x']) expect(await verify({ azp: 'console' }, typ)).toBe(401);
      expect(await verify({ events: {} }, 'JWT')).toBe(401);
    } finally {
      await issuer.close();
    }
  });
});

describe('the keys of an OIDC issuer', () => {
  it('are followed when they are replaced, and waited for when the issuer is unavailable', async () => {
    const first = await openIssuer(await newSigningKey('first', 'ES256'));
    const { port } = new URL(first.url);
    const early = await first.accessToken({ subject: 'ann', role: 'admin' });
    await first.close();
    let skippedMs = 0;
    const tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { OIDC_ISSUER: first.url, OIDC_AUDIENCE: 'towline,temporal-ui' },
      gateway: { monotonicMs: () => performance.now() + skippedMs },
    });
    const statusOf = async (token: string) =>
      (await fetch(`${tested.url}/whoami`, { headers: { authorization: `Bearer ${token}` } })).status;
    try {
      expect(await statusOf(early)).toBe(503);
      expect(await statusOf('dev-token')).toBe(200);
      // Only then is the issuer asked again.
      skippedMs += 3_000;
      const second = await openIssuer(await newSigningKey('second', 'ES256'), Number(port));
      try {
        const token = await second.accessToken({ subject: 'ann', role: 'admin' });
        await until('the issuer to be asked', async () => (await statusOf(token)) === 200);
        expect(await statusOf(early)).toBe(401);
      } finally {
        await second.close();
      }
      const third = await openIssuer(await newSigningKey('third', 'ES256'), Number(port));
      try {
        const token = await third.accessToken({ subject: 'ann', role: 'admin' });
        await until('the new key to be known', async () => (await statusOf(token)) === 200);
      } finally {
        await third.close();
      }
    } finally {
      await tested.close();
    }
  });
});

describe('a guess at a token of an OIDC issuer', () => {
  let monotonicMs = 0;
  const gatewayOf = (issuer: string) =>
    gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'towline,temporal-ui', UNPROVEN_RATE_LIMIT: '1' },
      gateway: { monotonicMs: () => monotonicMs },
    });
  const statusesOf = async (url: string, tokens: readonly string[]) => {
    const statuses = [];
    for (const token of tokens) {
      statuses.push((await fetch(`${url}/whoami`, { headers: { authorization: `Bearer ${token}` } })).status);
    }
    return statuses;
  };
  const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one);
  /** With the issuer's name, which everyone knows. */
  const rubbishOf = (issuer: string, kid = 'none') => {
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${part({ alg: 'RS256', kid })}.${part({ iss: issuer })}.AAAA`;
  };
  const tamperedWith = (token: string) => `${token.slice(0, -8)}AAAAAAAA`;

  it('is one that is judged wrong, or has no role; it holds back no good token of the same address, known or not', async () => {
    const issuer = await openIssuer(await newSigningKey('one'));
    const tested = await gatewayOf(issuer.url);
    const [none, good, another] = [
      await issuer.accessToken({ subject: 'eve' }),
      await issuer.accessToken({ subject: 'ann', role: 'admin' }),
      await issuer.accessToken({ subject: 'bea', role: 'admin' }),
    ];
    const forged = tamperedWith(good);
    expect(await statusesOf(tested.url, times(5, none))).toEqual(times(5, 403));
    expect(await statusesOf(tested.url, times(7, forged))).toEqual([...times(5, 401), 429, 429]);
    expect(await statusesOf(tested.url, [good, forged])).toEqual([200, 401]);
    // A good token came from it, so the address is known and has ten times as many guesses.
    expect(await statusesOf(tested.url, times(101, forged))).toEqual([...times(99, 401), 429, 429]);
    expect(await statusesOf(tested.url, [another, 'dev-token', none])).toEqual([200, 200, 429]);
    monotonicMs += 1_000;
    expect(await statusesOf(tested.url, times(11, none))).toEqual([...times(10, 403), 429]);
    await tested.close();
    await issuer.close();
  });

  it('costs no check of a signature if its form, algorithm, issuer or key cannot be right', async () => {
    const issuer = await openIssuer(await newSigningKey('one'));
    const tested = await gatewayOf(issuer.url);
    const good = await issuer.accessToken({ subject: 'ann', role: 'admin' });
    const [, body] = good.split('.');
    const headed = (header: object) => `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.AAAA`;
    const verify = jest.spyOn(globalThis.crypto.subtle, 'verify');
    const junk = [
      'opaque',
      'a.b.c',
      headed({ alg: 'none' }),
      headed({ alg: 'HS256', kid: 'one' }),
      headed({ alg: 'RS256', kid: 'another' }),
      rubbishOf('https://another.example', 'one'),
    ];
    expect(await statusesOf(tested.url, junk)).toEqual(times(junk.length, 401));
    expect(verify).toHaveBeenCalledTimes(0);
    expect(await statusesOf(tested.url, [good, tamperedWith(good)])).toEqual([200, 401]);
    expect(verify).toHaveBeenCalledTimes(2);
    verify.mockRestore();
    await tested.close();
    await issuer.close();
  });

  it.each([
    ['does not answer as it should', (_url: string) => ({})],
    // An address that does not count as this machine, and leads to it.
    ['would give its keys over plain text', (url: string) => ({ jwks_uri: url.replace('127.0.0.1', '0.0.0.0') })],
  ])('has an issuer that %s asked once in three seconds, however many there are', async (_says, more) => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer: url, ...more(url) }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tested = await gatewayOf(url);
    const rubbish = rubbishOf(url);
    // Nothing was judged, so none of them is a guess.
    expect(await statusesOf(tested.url, times(12, rubbish))).toEqual(times(12, 503));
    expect(await statusesOf(tested.url, ['wrong'])).toEqual([401]);
    expect(asked).toBe(1);
    monotonicMs += 3_000;
    expect(await statusesOf(tested.url, times(3, rubbish))).toEqual(times(3, 503));
    expect(asked).toBe(2);
    await tested.close();
    server.close();
    server.closeAllConnections();
  });
});

describe('the doctor', () => {
  it('finds whether tokens of OIDC_ISSUER can be verified, and if not, why', async () => {
    const [issuer, pairwise] = [
      await openIssuer(await newSigningKey('one')),
      await openIssuer(await newSigningKey('one'), 0, ['pairwise']),
    ];
    const found = async (OIDC_ISSUER: string, env: Record<string, string> = {}) => {
      const [finding] = await checkOidc(readSettings({ OIDC_ISSUER, OIDC_AUDIENCE: 'towline,temporal-ui', ...env }));
      return [finding?.verdict, finding?.code];
    };
    try {
      expect(await found(issuer.url)).toEqual(['good', 'ok']);
      expect(await found(`${issuer.url}/`)).toEqual(['bad', 'other-issuer']);
      expect(await found(`${issuer.url}/tenant`)).toEqual(['bad', 'unreachable']);
      const algorithms = { OIDC_ALGORITHMS: 'ES256,EdDSA' };
      expect(await found(issuer.url, algorithms)).toEqual(['bad', 'no-usable-key']);
      expect(await found(pairwise.url)).toEqual(['bad', 'pairwise-subject']);
      expect(await found(pairwise.url, { OIDC_NAME_CLAIM: 'oid' })).toEqual(['good', 'ok']);
    } finally {
      await Promise.all([issuer.close(), pairwise.close()]);
    }
    expect(await found(issuer.url)).toEqual(['bad', 'unreachable']);
    expect(await checkOidc(readSettings({}))).toEqual([]);
  });
});
