import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import { readSettings, type Settings } from '../../src/config/index.js';
import { callbackCapability } from '../../src/flows/capability.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../src/gateway/index.js';
import type { Store } from '../../src/store/store.js';
import { createPayloadCodec } from '../../src/temporal/payload-codec.js';
import { keyring, NAMESPACE, SETTLEMENT_SECRET } from './fixed.js';
import type { Answer } from './service.js';

export interface TestGatewayOptions {
  readonly temporalAddress: string;
  readonly store: Store;
  readonly client: Client;
  readonly taskQueue: string;
  /** @default the shared one */
  readonly namespace?: string;
  /** Settings. */
  readonly env?: Record<string, string>;
  readonly options?: Partial<GatewayOptions>;
}

/** The real gateway on its own port, which checks for work a little more often than by default. */
export interface TestGateway {
  readonly url: string;
  readonly gateway: Gateway;
  readonly settings: Settings;
  /** Lines of its log, parsed. */
  readonly log: readonly Record<string, unknown>[];
  /** Of a bridge transfer. */
  callbackPath(reference: string): string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Answer }>;
  get(path: string): Promise<{ status: number; body: Answer }>;
  close(): Promise<void>;
}

const AUTHORIZATION = 'Bearer dev-token';

export async function openGateway({ store, client, taskQueue, ...given }: TestGatewayOptions): Promise<TestGateway> {
  const home = await mkdtemp(join(tmpdir(), 'towline-gateway-'));
  const settings = readSettings({
    GATEWAY_PORT: '0',
    TOWLINE_HOME: home,
    SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
    TEMPORAL_ADDRESS: given.temporalAddress,
    ...given.env,
  });
  const log: Record<string, unknown>[] = [];
  const logger: Logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const removeHome = () => rm(home, { recursive: true, force: true });
  const gateway = await startGateway({
    settings,
    store,
    client,
    codec: createPayloadCodec({ keyring, namespace: given.namespace ?? NAMESPACE }),
    logger,
    taskQueue,
    pace: { dispatchEveryMs: 200, settleEveryMs: 100, settleAgeMs: 0 },
    ...given.options,
  }).catch(async (error: unknown) => {
    await removeHome();
    throw error;
  });

  const call = async (path: string, init: RequestInit) => {
    const answer = await fetch(gateway.url + path, init);
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  return {
    url: gateway.url,
    gateway,
    settings,
    log,
    callbackPath: (reference) => {
      const flowId = `bridge-transfer/${reference}`;
      return `/callbacks/${flowId}/${callbackCapability(store, flowId)}`;
    },
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: AUTHORIZATION, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path) => call(path, { headers: { authorization: AUTHORIZATION } }),
    async close() {
      await gateway.close();
      await removeHome();
    },
  };
}
