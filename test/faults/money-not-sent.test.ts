import { createServer, connect, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServiceClient, type ServiceClient } from '../../src/client/index.js';
import type { FlowReport } from '../../src/flows/messages.js';
import { newReference, openBench, TOKEN, transferInput, trusted, until, type Bench } from '../workflows/bench.js';
import { inTurns } from './in-turns.js';

const TIME_SCALE = 0.01;

describe('a deposit that was not sent, or only in part', () => {
  let bench: Bench;
  const clients: ServiceClient[] = [];
  beforeAll(async () => {
    bench = await openBench({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(async () => {
    clients.forEach((client) => client.close());
    await bench.close();
  });

  const clientOf = (baseUrl: string): ServiceClient => {
    const client = createServiceClient({ baseUrl, token: () => Promise.resolve(TOKEN), timeoutMs: 2_000 });
    clients.push(client);
    return client;
  };

  /** The deposit goes to `broken` for the first tries of each reference, all else to the sandbox. */
  const failingFirst = (tries: number, broken: ServiceClient): ServiceClient => {
    const seen = new Map<string, number>();
    return {
      ...bench.deps.service,
      createBridgeDeposit: (body) => {
        const before = seen.get(body.provider_reference_id) ?? 0;
        seen.set(body.provider_reference_id, before + 1);
        return (before < tries ? broken : bench.deps.service).createBridgeDeposit(body);
      },
    };
  };

  const completeAll = async (own: Bench, n: number, word: string) => {
    const references = Array.from({ length: n }, () => newReference(word));
    return inTurns(references, 10, async (reference) => {
      const handle = await own.start(transferInput(reference, { timeScale: TIME_SCALE }));
      await until(handle, ({ view }) => view.stage === 'tracking');
      await handle.signal('events', [trusted('COMPLETED')]);
      const { view } = (await handle.result()) as FlowReport;
      const parked = view.timeline.some((entry) => entry.detail.startsWith('parked'));
      return { state: view.state, parked, executions: await bench.executions('createBridgeDeposit', reference) };
    });
  };

  test.each([
    ['refused', () => clientOf('http://127.0.0.1:9')],
    ['DNS', () => clientOf('https://no-such-host.invalid')],
    ['TLS', () => clientOf(bench.sandbox.url.replace('http:', 'https:'))],
  ])(
    'fault 2: %s, twice for each of n = 30: tried again freely, all complete, none parked',
    async (word, broken) => {
      const own = await openBench({ time: 'real', deps: { ...bench.deps, service: failingFirst(2, broken()) } });
      const ends = await completeAll(own, 30, word);
      expect(ends).toEqual(ends.map(() => ({ state: 'completed', parked: false, executions: 1 })));
      await own.close();
    },
    60_000,
  );

  test('fault 3: a half-sent body and a reset, n = 20: unknown, never executed by half, at most one execution after a person ordered another send', async () => {
    const cutter = await cuttingProxy(bench.sandbox.port, 700);
    const own = await openBench({
      time: 'real',
      deps: { ...bench.deps, service: failingFirst(1, clientOf(`http://127.0.0.1:${cutter.port}`)) },
    });
    const references = Array.from({ length: 20 }, () => newReference('half'));
    const ends = await inTurns(references, 10, async (reference) => {
      const handle = await own.start(transferInput(reference, { timeScale: TIME_SCALE }));
      const { view } = await until(handle, (report) => report.view.state === 'parked');
      expect(view.parked?.reason).toBe('unknown_outcome');
      const before = await bench.executions('createBridgeDeposit', reference);
      await handle.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'not there', actor: 'ada' }] });
      await until(handle, (report) => report.view.stage === 'tracking');
      await handle.signal('events', [trusted('COMPLETED')]);
      const end = (await handle.result()) as FlowReport;
      return [end.view.state, before, await bench.executions('createBridgeDeposit', reference)];
    });
    expect(ends).toEqual(ends.map(() => ['completed', 0, 1]));
    expect(cutter.cuts()).toBe(20);
    await own.close();
    await cutter.close();
  }, 60_000);

  test('fault 9: another request under a used reference: refused before the network, POSTs 0', async () => {
    let posts = 0;
    const service: ServiceClient = {
      ...bench.deps.service,
      createBridgeDeposit: (body) => {
        posts += 1;
        return bench.deps.service.createBridgeDeposit(body);
      },
    };
    const own = await openBench({ time: 'real', deps: { ...bench.deps, service } });
    for (let round = 0; round < 10; round += 1) {
      const reference = newReference('other');
      const key = { account: bench.deps.account, operation: 'createBridgeDeposit', reference };
      await bench.store.claims.reserve(key, { owner: 'earlier', flowId: 'x', fingerprint: 'of another request' });
      const handle = await own.start(transferInput(reference));
      const { view } = await until(handle, (report) => report.view.outcome !== null);
      expect(view.outcome).toMatchObject({ state: 'failed', reason: 'other_request_same_reference' });
    }
    expect(posts).toBe(0);
    await own.close();
  }, 60_000);
});

/** Passes so many bytes of each connection on, then resets both sides. */
async function cuttingProxy(targetPort: number, bytes: number) {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    let passed = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, bytes - passed);
      passed += part.length;
      upstream.write(part, () => {
        if (passed < bytes) return;
        cuts += 1;
        client.resetAndDestroy();
        upstream.resetAndDestroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
