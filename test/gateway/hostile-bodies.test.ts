import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createServer, REQUEST_LIMITS } from '../../src/gateway/http/server.js';
import { honestSender, openSlowSockets, sendHostileBodies, type Sender } from './setup/hostile.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

/** The soak sends 40 of each body and opens 2,000 sockets; memory is measured in the crash matrix, alone on the machine. */
const [EACH, SOCKETS, HONEST] = [1, 200, 100];

describe('a gateway under attack', () => {
  let tested: GatewayUnderTest;
  let sender: Sender;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      env: { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0' },
      gateway: { requestLimits: { headersWithinMs: 2_000, requestWithinMs: 3_000, answerWithinMs: 30_000 } },
    });
    sender = honestSender(tested.url);
  });
  afterAll(async () => {
    sender.close();
    await tested.close();
  });

  it('fault 41: 17 bodies that are too much are refused, and honest events are taken meanwhile', async () => {
    const { sent, wrong, honest } = await sendHostileBodies(tested.url, sender, EACH);
    expect(sent).toBe(17 * EACH);
    expect(wrong).toEqual([]);
    expect(new Set(honest)).toEqual(new Set([200]));
  });

  it('bodies that no path asks for are refused unread, whatever their method is', async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`k${n}`, n])));
    const headers = { 'content-type': 'application/json' };
    for (const [method, path] of [
      ['OPTIONS', '/codec/encode'],
      ['OPTIONS', '/codec/decode'],
    ] as const) {
      const { status } = await fetch(`${tested.url}${path}`, { method, headers, body });
      expect(status).toBe(413);
      // One byte of it, of which no more is ever sent.
      const { hostname, port } = new URL(tested.url);
      const socket = connect({ host: hostname, port: Number(port) });
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n{`,
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 413/);
      socket.destroy();
      expect((await fetch(`${tested.url}${path}`, { method })).status).toBe(204);
    }
  });

  it(`fault 42: ${SOCKETS} slow sockets keep no honest event from being taken, and are cut`, async () => {
    const { opened, answers } = await openSlowSockets(tested.url, sender, { sockets: SOCKETS, honest: HONEST });
    expect(opened).toBe(SOCKETS);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: HONEST }, () => 200));
  });

  it('gives a sender five seconds for its headers, ten for a request and thirty to read its answer, by default', async () => {
    expect(REQUEST_LIMITS).toEqual({ headersWithinMs: 5_000, requestWithinMs: 10_000, answerWithinMs: 30_000 });
    const { server } = createServer(pino({ level: 'silent' }));
    expect([server.headersTimeout, server.requestTimeout]).toEqual([5_000, 10_000]);
    server.close();
  });
});
