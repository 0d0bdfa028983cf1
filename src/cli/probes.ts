import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { limitSockets } from '../gateway/http/connections.js';
import { answers, works } from '../gateway/ops/health.js';
import { remembered } from '../gateway/ops/remembered.js';
import { CliError } from './exit-codes.js';

interface Listen {
  readonly host: string;
  readonly port: number;
  /** Rejects if the store cannot be written. */
  readonly store: () => Promise<unknown>;
}

export interface WorkerProbeOptions extends Listen {
  /** Whether it polls each of its queues. */
  readonly isPolling: () => boolean;
  readonly client: Client;
}

export interface Probe {
  readonly url: string;
  /** Not ready from now on: its process accepts nothing new, and finishes what it has. */
  drain(): void;
  close(): Promise<void>;
}

interface Found {
  readonly code: number;
  readonly body: object;
}

/** A probe is short, and anyone on its network can connect: file descriptors are needed for money and webhooks. */
const LIMITS = {
  headersTimeout: 2_000,
  requestTimeout: 2_000,
  keepAliveTimeout: 2_000,
  connectionsCheckingInterval: 500,
  maxHeaderSize: 8 * 1_024,
};
/** So few per address, 32, that one that takes them all does not block the probes of others. */
const CONNECTIONS = { maxConnections: 256, shareOfAnAddress: 8 };

const DRAINING: Found = { code: 503, body: { status: 'draining' } };
const ALIVE: Found = { code: 200, body: { status: 'ok' } };
const monotonicMs = () => performance.now();

/** `/healthz`: the process answers. `/readyz`: it takes tasks, and its store works. */
export async function openWorkerProbe({ store, isPolling, client, ...listen }: WorkerProbeOptions): Promise<Probe> {
  const storeWorks = remembered(monotonicMs, () => works(store()));
  const temporalWorks = remembered(monotonicMs, () => works(answers(client)));

  async function readiness(): Promise<Found> {
    const [storeIs, temporalIs] = await Promise.all([storeWorks(), temporalWorks()]);
    const polling = isPolling() ? 'ok' : 'unavailable';
    const isReady = [storeIs, temporalIs, polling].every((found) => found === 'ok');
    return {
      code: isReady ? 200 : 503,
      body: { status: isReady ? 'ok' : 'unavailable', store: storeIs, temporal: temporalIs, polling },
    };
  }

  return openProbe('WORKER_PROBE_PORT', listen, { '/readyz': readiness });
}

/** @param setting name of the port's setting */
async function openProbe(
  setting: string,
  { host, port }: Pick<Listen, 'host' | 'port'>,
  ready: Readonly<Record<string, () => Promise<Found>>>,
): Promise<Probe> {
  let isDraining = false;
  // Checked after the probes, which take a while.
  const unlessDraining = (find: () => Promise<Found>) => async () => {
    const found = await find();
    return isDraining ? DRAINING : found;
  };
  const readiness = Object.entries(ready).map(([path, find]) => [path, unlessDraining(find)] as const);
  const paths = new Map([['/healthz', () => Promise.resolve(ALIVE)] as const, ...readiness]);
  const server = createServer(LIMITS, (request, response) => {
    request.resume();
    const answer = ({ code, body }: Found) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const find = paths.get(request.url ?? '');
    if (request.method !== 'GET') answer({ code: 405, body: { status: 'only GET' } });
    else if (find === undefined) answer({ code: 404, body: { status: `only ${[...paths.keys()].join(' and ')}` } });
    else void find().then(answer);
  });
  limitSockets(server, CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CliError(`${setting} ${port} on ${host} cannot be listened on (${error.code ?? 'unknown'}).`)),
    );
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    drain: () => void (isDraining = true),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
