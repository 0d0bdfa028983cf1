import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { Refusal } from '../../src/gateway/http/refusal.js';
import { createServer } from '../../src/gateway/http/server.js';
import { addInboundRoutes, type InboundDeps } from '../../src/gateway/inbound/routes.js';

const CHUNK = `1000\r\n${'x'.repeat(4_096)}\r\n`;

describe('the body of an event that is refused while it comes', () => {
  const server = createServer(pino({ level: 'silent' }));
  let received = 0;
  let most = 0;
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  beforeAll(async () => {
    process.on('uncaughtException', note);
    const deps = {
      settings: { settlementTrust: 'corroborated' },
      profiles: { settlement: () => 'absent' },
      logger: pino({ level: 'silent' }),
      admission: () => ({
        received(bytes: number) {
          received += bytes;
          if (received > most) throw new Refusal(429, 'Too many open events.');
        },
      }),
    };
    addInboundRoutes(server, deps as unknown as InboundDeps);
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await server.close();
    process.off('uncaughtException', note);
  });

  it.each([0, 4_096, 20_480, 61_440])(
    'is answered 429 once, in whichever of its chunks the limit is, and ends no process: after %i bytes',
    async (limit) => {
      received = 0;
      most = limit;
      const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
      let text = '';
      socket.on('data', (data) => (text += data.toString()));
      socket.on('error', () => undefined);
      const head = `POST ${reportSettlement.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;
      // In one write, so that several chunks are read in one turn of the event loop.
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n${CHUNK.repeat(16)}`);
      await once(socket, 'close');
      expect(text.split('\r\n')[0]).toBe('HTTP/1.1 429 Too Many Requests');
      expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
      expect(uncaught).toEqual([]);
    },
  );
});
