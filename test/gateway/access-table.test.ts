import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROLES, rolesWith, type Role } from '../../src/protocol/permissions.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { createServiceClient } from '../../src/service-client/index.js';
import { inTurns } from '../../src/in-turns.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { anEvent } from '../store/temporary-store.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'access.md');
const secretOf = (role: Role) => `secret-of-the-${role}-0123456789`;
const [BEGIN, END] = ['<!-- routes -->', '<!-- /routes -->'];
/** It only says that there is no such kind. */
const OF_NO_KIND = '/flows/:kind';

/** Not of the API, and not in its document: what the Temporal UI and Prometheus ask. */
const OF_MACHINES = ['GET /metrics', 'POST /codec/decode', 'POST /codec/encode'] as const;
const WITHOUT_TOKEN = 'no token';

describe('every route, for every role, about its own flow and about that of another name', () => {
  let tested: GatewayUnderTest;
  const references = new Map<Role | 'another', string>();
  const events = new Map<Role | 'another', string>();
  beforeAll(async () => {
    const tokens = ROLES.map((role) => `a-${role}:${role}:${secretOf(role)}`);
    // Nothing listens there: what is let in is answered 503, and no record is missing.
    const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: () => Promise.resolve('unused') });
    const token = () => Promise.resolve(undefined);
    const lookUp = () => Promise.resolve({ says: 'cannot-tell' } as const);
    tested = await gatewayUnderTest({
      env: { GATEWAY_TOKENS: [...tokens, 'dev:admin:dev-token'].join(','), GATEWAY_RATE_LIMIT: '0' },
      gateway: { service: { client, token, lookUp } },
    });
    for (const whose of [...ROLES, 'another'] as const) {
      const reference = newReference('access');
      references.set(whose, reference);
      const flowId = `bridge-transfer/${reference}`;
      expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
      for (const kind of FLOW_KINDS) {
        const gift = { kind: 'give', subject: `a-${whose}`, actor: 'dev', means: 'token' } as const;
        await tested.store.audit.append({ ...gift, flowId: `${kind}/${reference}` });
      }
      const event = anEvent({ flowId, proof: null });
      await tested.store.inbox.receive(event);
      events.set(whose, event.id);
    }
  });
  afterAll(async () => {
    for (const reference of references.values()) {
      await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).terminate();
    }
    await tested.close();
  });

  const nameOf = ({ method, url }: { readonly method: string; readonly url: string }) =>
    `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
  const listed = () =>
    tested.gateway.routes
      // The pages of the console and of the document itself are for everyone.
      .filter(({ permission, reference, url }) => (permission ?? reference) != null && url !== OF_NO_KIND)
      .toSorted((one, other) => (`${one.url} ${one.method}` < `${other.url} ${other.method}` ? -1 : 1));

  async function statusOf(method: string, url: string, role: Role, whose: Role | 'another'): Promise<number> {
    const path = url
      .replace(':kind', 'bridge-transfer')
      .replace(':id', events.get(whose) ?? '')
      .replace(/:\w+/, references.get(whose) ?? '');
    const answer = await fetch(tested.url + (path.endsWith('/wait') ? `${path}?timeoutSeconds=0` : path), {
      method,
      headers: { authorization: `Bearer ${secretOf(role)}`, 'content-type': 'application/json' },
      // Who is let in is answered that the body is wrong: nothing is ordered. A resend has none.
      ...(method === 'GET' ? {} : { body: url.endsWith('/resend') ? 'no JSON' : '{"not a member":1}' }),
    });
    await answer.body?.cancel();
    return answer.status;
  }
  it('is in the API document, and what that has is in the table', async () => {
    const document = (await tested.get('/openapi.json')).body as {
      readonly paths: Record<string, Record<string, { readonly security?: readonly unknown[] }>>;
    };
    const described = new Map(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { security }]): [string, boolean] => [
          `${method.toUpperCase()} ${path}`,
          security?.length !== 0,
        ]),
      ),
    );
    const needsToken = new Map(listed().map((route) => [nameOf(route), route.permission !== null]));
    for (const name of OF_MACHINES) described.set(name, true);
    expect(described).toEqual(needsToken);
    const text = await readFile(DOCUMENT, 'utf8');
    const table = text.slice(text.indexOf(BEGIN), text.indexOf(END));
    const inTable = [...table.matchAll(/^\| `(\w+ [^`]+)` \| (`[\w-]+`|no token) \|/gm)];
    expect(new Map(inTable.map(([, name, permission]) => [name, permission !== WITHOUT_TOKEN]))).toEqual(needsToken);
  });

  const cellOf = (status: number) => (status === 403 || status === 404 ? String(status) : 'yes');

  it('is answered as docs/access.md lists it', async () => {
    const asked = listed().flatMap((route) => ROLES.map((role) => ({ route, role })));
    const cells = await inTurns(asked, 16, async ({ route: { method, url, permission }, role }) => {
      const [own, other] = await Promise.all([
        statusOf(method, url, role, role),
        statusOf(method, url, role, 'another'),
      ]);
      for (const status of [own, other]) expect([url, role, [401, 429].includes(status)]).toEqual([url, role, false]);
      const isAllowed = permission === null || rolesWith(permission).includes(role);
      expect([method, url, role, own === 403]).toEqual([method, url, role, !isAllowed]);
      return own === other || cellOf(own) === cellOf(other)
        ? cellOf(own)
        : `own ${cellOf(own)}, other ${cellOf(other)}`;
    });
    const rows = listed().map((route, at) => {
      const ofRoles = cells.slice(at * ROLES.length, (at + 1) * ROLES.length);
      const { permission } = route;
      return [`\`${nameOf(route)}\``, permission === null ? WITHOUT_TOKEN : `\`${permission}\``, ...ofRoles];
    });
    const line = (words: readonly string[]) => `| ${words.join(' | ')} |`;
    const head = ['route', 'permission', ...ROLES.map((role) => `\`${role}\``)];
    const table = [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
    const text = await readFile(DOCUMENT, 'utf8');
    const computed = text.replace(new RegExp(`${BEGIN}[^]*${END}`), () => `${BEGIN}\n\n${table}\n\n${END}`);
    if (process.env['WRITE_DOCS']) await writeFile(DOCUMENT, computed);
    expect(await readFile(DOCUMENT, 'utf8')).toBe(computed);
    // Only what the role flows asks about another name's flow differs from what it asks about its own.
    const differing = rows.filter((cellsOfRow) => cellsOfRow.some((cell) => cell.startsWith('own ')));
    expect(differing.length).toBeGreaterThan(10);
    for (const [, , ...ofRoles] of differing) {
      expect(ofRoles.map((cell, at) => cell.startsWith('own ') && ROLES[at])).toEqual(
        ROLES.map((role) => role === 'flows' && role),
      );
    }
  }, 120_000);
});
