import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { answers, works } from '../gateway/ops/health.js';
import { remembered } from '../gateway/ops/remembered.js';
import { CliError } from './exit-codes.js';

export interface ProbeOptions {
  readonly host: string;
  readonly port: number;
  /** Rejects where the store cannot be written. */
  readonly store: () => Promise<unknown>;
  /** Whether it asks for tasks, of each of its queues. */
  readonly isPolling: () => boolean;
  readonly client: Client;
}

export interface WorkerProbe {
  readonly url: string;
  /** Not ready from now on: it takes nothing new, and finishes what it has. */
  drain(): void;
  close(): Promise<void>;
}

/** A probe asks at once, and anybody on its network can connect: the worker needs its descriptors for money. */
const LIMITS = {
  headersTimeout: 2_000,
  requestTimeout: 2_000,
  keepAliveTimeout: 2_000,
  connectionsCheckingInterval: 500,
  maxHeaderSize: 8 * 1_024,
};
const MOST_CONNECTIONS = 256;

/** `/healthz`: the process answers. `/readyz`: it takes tasks, and its store works. */
export async function openWorkerProbe({ host, port, store, isPolling, client }: ProbeOptions): Promise<WorkerProbe> {
  const monotonicMs = () => performance.now();
  const storeWorks = remembered(monotonicMs, () => works(store()));
  const temporalWorks = remembered(monotonicMs, () => works(answers(client)));
  let isDraining = false;

  async function readiness(): Promise<{ readonly code: number; readonly body: object }> {
    const [storeIs, temporalIs] = await Promise.all([storeWorks(), temporalWorks()]);
    // Asked after the looks, which take a while.
    if (isDraining) return { code: 503, body: { status: 'draining' } };
    const polling = isPolling() ? 'ok' : 'unavailable';
    const isReady = [storeIs, temporalIs, polling].every((found) => found === 'ok');
    return {
      code: isReady ? 200 : 503,
      body: { status: isReady ? 'ok' : 'unavailable', store: storeIs, temporal: temporalIs, polling },
    };
  }

  const server = createServer(LIMITS, (request, response) => {
    request.resume();
    const answer = ({ code, body }: Awaited<ReturnType<typeof readiness>>) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method !== 'GET') answer({ code: 405, body: { status: 'only GET' } });
    else if (request.url === '/healthz') answer({ code: 200, body: { status: 'ok' } });
    else if (request.url === '/readyz') void readiness().then(answer);
    else answer({ code: 404, body: { status: 'only /healthz and /readyz' } });
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CliError(`WORKER_PROBE_PORT ${port} on ${host} cannot be listened on (${error.code ?? 'unknown'}).`)),
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
