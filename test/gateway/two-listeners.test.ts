import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { reportSettlement } from '../../src/contract/bridge.js';
import { createServer, listRoutes } from '../../src/gateway/http/server.js';
import { GatewayPortTakenError } from '../../src/gateway/index.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const { path: SETTLEMENT_PATH } = reportSettlement;

describe('a gateway with INBOUND_PORT', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    tested = await gatewayUnderTest({ env: { INBOUND_PORT: '0' } });
  });
  afterAll(() => tested.close());

  const inboundPaths = () =>
    tested.gateway.routes
      .filter(({ reference }) => reference?.().operation.tags?.includes('inbound'))
      .map(({ url }) => url);
  const status = async (base: string, method: string, path: string) => {
    const body = method === 'GET' ? {} : { body: '{}', headers: { 'content-type': 'application/json' } };
    return (await fetch(base + path.replaceAll(/:\w+/g, 'x'), { method, ...body })).status;
  };

  it('answers at the public listener only the four inbound paths and health', async () => {
    const { routes, publicUrl } = tested.gateway;
    expect(inboundPaths()).toHaveLength(4);
    const open: string[] = [];
    for (const { method, url } of routes) if ((await status(publicUrl, method, url)) !== 404) open.push(url);
    // An unknown capability is not found, either.
    expect(open.toSorted()).toEqual(
      [SETTLEMENT_PATH, '/healthz', '/readyz', '/readyz/intake', '/readyz/orders'].toSorted(),
    );
  });

  it('answers at the inside listener none of the inbound paths', async () => {
    const answers = await Promise.all(inboundPaths().map((path) => status(tested.gateway.url, 'POST', path)));
    expect(answers).toEqual([404, 404, 404, 404]);
  });

  it('takes a callback at the public listener, and none at the inside one', async () => {
    const path = tested.callbackPath(newReference('listener'));
    const post = (base: string) =>
      fetch(base + path, {
        method: 'POST',
        body: '{"status":"COMPLETED"}',
        headers: { 'content-type': 'application/json' },
      });
    expect([(await post(tested.gateway.url)).status, (await post(tested.gateway.publicUrl)).status]).toEqual([
      404, 200,
    ]);
  });

  it('names both addresses in its OpenAPI document: PUBLIC_URL for the inbound paths, GATEWAY_URL for the others', async () => {
    const other = await gatewayUnderTest({
      env: { INBOUND_PORT: '0', PUBLIC_URL: 'http://127.0.0.1:1', GATEWAY_URL: 'http://127.0.0.1:2' },
    });
    const document = (await (await fetch(`${other.url}/openapi.json`)).json()) as {
      readonly servers: readonly { readonly url: string }[];
      readonly paths: Readonly<Record<string, { readonly post?: { readonly servers?: readonly object[] } }>>;
    };
    await other.close();
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:2' }]);
    expect(document.paths['/webhooks/{capability}']?.post?.servers).toEqual([{ url: 'http://127.0.0.1:1' }]);
    expect(
      document.paths['/flows/onramp']?.post ?? document.paths['/flows/{kind}/{reference}/cancel']?.post,
    ).not.toHaveProperty('servers');
  });

  it('does not start if the public port is taken, and then holds no port', async () => {
    const port = new URL(tested.gateway.publicUrl).port;
    await expect(gatewayUnderTest({ env: { INBOUND_PORT: port } })).rejects.toBeInstanceOf(GatewayPortTakenError);
  });
});

describe('a gateway that closes while an event comes in at the public listener', () => {
  it('stores the event before it leaves its duties to another gateway, and answers at neither listener meanwhile', async () => {
    const did: string[] = [];
    const wrapStore = (store: Store): Store => {
      const receive: Store['inbox']['receive'] = async (...event) => {
        const receipt = await store.inbox.receive(...event);
        did.push(receipt.kind);
        return receipt;
      };
      const leave = (name: string) => {
        did.push(`left ${name}`);
        return store.duties.leave(name);
      };
      const inbox = Object.create(store.inbox, { receive: { value: receive } }) as Store['inbox'];
      const duties = Object.create(store.duties, { leave: { value: leave } }) as Store['duties'];
      return Object.create(store, { inbox: { value: inbox }, duties: { value: duties } }) as Store;
    };
    const closing = await gatewayUnderTest({ env: { INBOUND_PORT: '0' }, wrapStore });
    const { gateway } = closing;
    const body = JSON.stringify({ provider_reference_id: newReference('closing'), status: 'COMPLETED' });
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      connection: 'close',
      expect: '100-continue',
    };
    const event = request(gateway.publicUrl + SETTLEMENT_PATH, { method: 'POST', headers });
    event.flushHeaders();
    await once(event, 'continue');
    const closed = closing.close();
    for (const url of [gateway.url, gateway.publicUrl])
      await until(`${url} to be closed`, () =>
        fetch(`${url}/healthz`).then(
          () => false,
          () => true,
        ),
      );
    event.end(body);
    const [answer] = (await once(event, 'response')) as [{ readonly statusCode?: number; resume(): void }];
    answer.resume();
    await closed;
    expect(answer.statusCode).toBe(200);
    // Of the other one, only if it was this gateway's by then.
    expect(did.slice(0, 2)).toEqual(['stored', 'left clearing']);
  });
});

describe('a listener without the plugin that asks who calls', () => {
  it.each([
    [undefined, true],
    ['view', false],
  ] as const)('with a route of the permission %s starts: %s', async (permission, starts) => {
    const server = createServer(pino({ level: 'silent' }));
    listRoutes(server);
    server.get('/', { config: permission === undefined ? {} : { permission } }, async () => ({}));
    const started = server.ready().then(
      () => true,
      () => false,
    );
    expect(await started).toBe(starts);
    await server.close();
  });
});
