import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { permissionsOf, ROLES, rolesWith, type Permission, type Role } from '../../src/protocol/permissions.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { run } from '../cli/run.js';
import { keyring } from '../harness/fixed.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const secretOf = (role: Role) => `secret-of-the-${role}-0123456789`;
const PROMETHEUS = 'secret-of-prometheus-0123456789';
const GATEWAY_TOKENS = [
  ...ROLES.map((role) => `a-${role}:${role}:${secretOf(role)}`),
  `prometheus:viewer:${PROMETHEUS}`,
].join(',');

describe('the permissions of a role', () => {
  let tested: GatewayUnderTest;
  let aheadMs = 0;
  beforeAll(async () => {
    // No flow exists, and no Temporal is needed to refuse.
    const gateway = { monotonicMs: () => performance.now() + aheadMs };
    tested = await gatewayUnderTest({ env: { GATEWAY_TOKENS }, temporalAddress: '127.0.0.1:1', gateway });
  });
  afterAll(() => tested.close());

  const statusOf = async (method: string, url: string, role: Role) => {
    const path = url.replace(':kind', 'onramp').replace(':reference', 'none').replace(':id', 'none');
    const answer = await fetch(tested.url + path, {
      method,
      headers: { authorization: `Bearer ${secretOf(role)}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: 'no JSON' } : {}),
      signal: AbortSignal.timeout(30_000),
    });
    await answer.body?.cancel();
    return answer.status;
  };

  it('are those of the table, at every route that needs a token', async () => {
    const guarded = tested.gateway.routes.filter(({ permission }) => permission !== null);
    expect(guarded.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const { method, url, permission } of guarded) {
      const allowed = rolesWith(permission as Permission);
      for (const role of ROLES.filter((one) => !allowed.includes(one))) {
        const status = await statusOf(method, url, role);
        if (status !== 403) wrong.push(`${method} ${url}: ${status} for ${role}`);
      }
      // A read of Temporal would wait for it: what is let in is shown by those that fail before.
      if (method !== 'POST') continue;
      for (const role of allowed) {
        const status = await statusOf(method, url, role);
        if (status === 401 || status === 403) wrong.push(`${method} ${url}: ${status} for ${role}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are sets: who approves decides nothing, who decides starts nothing, and who audits orders nothing', () => {
    expect(permissionsOf('approver')).toEqual(['view', 'approve-quote', 'withdraw']);
    for (const permission of ['start', 'pay', 'approve-quote', 'read-audit'] as const) {
      expect(permissionsOf('operator')).not.toContain(permission);
    }
    const reads = ['view', 'read-metrics', 'read-service', 'read-event', 'codec', 'read-audit'];
    expect(permissionsOf('auditor').toSorted()).toEqual(reads.toSorted());
    expect(permissionsOf('flows+approver')).toEqual(permissionsOf('flows'));
    expect(permissionsOf('viewer+approver')).toEqual(['view', 'read-metrics', 'approve-quote', 'withdraw']);
  });

  it('let a viewer, whose token Prometheus may have, change nothing', async () => {
    const posts = tested.gateway.routes.filter(({ method, permission }) => method === 'POST' && permission !== null);
    for (const { url } of posts) expect([url, await statusOf('POST', url, 'viewer')]).toEqual([url, 403]);
    expect(await statusOf('GET', '/metrics', 'viewer')).toBe(200);
    expect(permissionsOf('viewer')).toEqual(['view', 'read-metrics']);
  });

  it('leave an entry in the audit log when they do not suffice: many of the same are one entry at once, then their count', async () => {
    const tryIt = async (path: string) => {
      const headers = { authorization: `Bearer ${PROMETHEUS}`, 'content-type': 'application/json' };
      const answer = await fetch(`${tested.url}/flows/${path}`, { method: 'POST', headers, body: '{}' });
      await answer.body?.cancel();
      expect(answer.status).toBe(403);
    };
    const recorded = async () => {
      // Written one after the other: what was refused before is there, too.
      await tested.store.audit.append({ kind: 'account', actor: 'the test', means: 'towline' });
      const entries = await tested.store.audit.list({ actor: 'prometheus', limit: 500, oldestFirst: true });
      return entries.map(({ kind, action, flowId, details }) => ({ kind, action, flowId, ...details }));
    };
    await tryIt('onramp/first/cancel');
    for (let tries = 0; tries < 40; tries += 1) await tryIt(`onramp/r-${tries}/cancel`);
    await tryIt('onramp/first/resolve');
    const cancel = { kind: 'refused', action: 'cancel', flowId: 'onramp/first' };
    const resolve = { kind: 'refused', action: 'resolve', flowId: 'onramp/first' };
    expect(await recorded()).toMatchObject([cancel, resolve]);
    aheadMs += 600_000;
    await tryIt('onramp/later/cancel');
    const [, , later] = await recorded();
    expect(later).toMatchObject({ ...cancel, flowId: 'onramp/later', unrecordedSinceTheLast: 40 });
  });

  it('are shown to every holder of a token', async () => {
    for (const role of ROLES) {
      const answer = await fetch(`${tested.url}/whoami`, { headers: { authorization: `Bearer ${secretOf(role)}` } });
      expect(await answer.json()).toEqual({ name: `a-${role}`, role, may: permissionsOf(role) });
    }
    expect((await fetch(`${tested.url}/whoami`)).status).toBe(401);
  });
});

describe('towline audit', () => {
  it('lists and exports what a gateway recorded, for an admin, and finds in its store what was changed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'towline-audit-'));
    const storePath = join(home, 'store.db');
    const tested = await gatewayUnderTest({ env: { GATEWAY_TOKENS }, temporalAddress: '127.0.0.1:1', storePath });
    const keys = `${keyring.active.id}:${Buffer.from(keyring.active.bytes).toString('base64')}`;
    const audit = (role: Role, ...args: string[]) =>
      run(['audit', ...args], {
        GATEWAY_URL: tested.url,
        TOWLINE_TOKEN: secretOf(role),
        TOWLINE_HOME: home,
        PAYLOAD_KEYS: keys,
      });
    const post = async (role: Role, path: string, body: string) => {
      const headers = { authorization: `Bearer ${secretOf(role)}`, 'content-type': 'application/json' };
      return (await fetch(tested.url + path, { method: 'POST', headers, body })).status;
    };
    try {
      expect(await post('operator', '/codec/decode', '{"payloads":[]}')).toBe(200);
      expect(await post('viewer', '/flows/onramp/order-1/cancel', '{}')).toBe(403);
      const refused = await until('the entry of the refusal', async () => {
        const { out } = await audit('admin', 'list', '--flow', 'onramp/order-1', '--json');
        const { entries } = JSON.parse(out) as { entries: unknown[] };
        return entries.length > 0 && entries;
      });
      expect(refused).toMatchObject([{ kind: 'refused', action: 'cancel', actor: 'a-viewer', role: 'viewer' }]);
      expect((await audit('admin', '--kind', 'decode')).out).toMatch(/decode .*a-operator/);
      expect(await audit('admin', '--actor', 'no one')).toMatchObject({ code: 0, out: 'No entries.' });
      expect((await audit('operator', 'list')).code).not.toBe(0);
      const lines = (await audit('admin', 'export')).out
        .split('\n')
        .map((line) => JSON.parse(line) as { kind: string });
      expect(lines.slice(0, 3).map(({ kind }) => kind)).toEqual(['chain', 'decode', 'refused']);

      const heads = join(home, 'heads.json');
      const kept = await audit('admin', 'verify', '--json');
      expect([kept.code, JSON.parse(kept.out)]).toMatchObject([0, { chains: 1, problems: [] }]);
      await writeFile(heads, kept.out);
      expect(await audit('admin', 'verify', '--against', heads)).toMatchObject({
        code: 0,
      });
      const db = await openConnection({ path: storePath });
      await db.write(
        ['DROP TRIGGER audit_no_change', `UPDATE audit SET actor = 'bob' WHERE kind = 'decode'`].map((sql) => ({
          sql,
          params: [],
        })),
        turnOf.meta,
      );
      await db.close();
      const changed = await audit('admin', 'verify', '--against', heads);
      expect(changed.code).not.toBe(0);
      expect(changed.out).toContain('entry 2');
    } finally {
      await tested.close();
      await rm(home, { recursive: true, force: true });
    }
  });
});
