import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import { readSettings, type Settings } from '../../../src/config/index.js';
import { callbackCapability } from '../../../src/flows/capability.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../../src/gateway/index.js';
import { createKeyring } from '../../../src/keys/index.js';
import { openAt } from '../../store/temporary-store.js';
import type { Store } from '../../../src/store/store.js';
import { connectTemporal } from '../../../src/temporal/connection.js';
import { createPayloadCodec } from '../../../src/temporal/payload-codec.js';
import { createDataConverter } from '../../../src/temporal/payload-data-converter.js';

export const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);
export const SETTLEMENT_SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const NAMESPACE = 'default';

export interface GatewayUnderTest {
  readonly url: string;
  readonly gateway: Gateway;
  readonly store: Store;
  readonly client: Client;
  readonly taskQueue: string;
  readonly settings: Settings;
  /** Lines of its log, parsed. */
  readonly log: readonly Record<string, unknown>[];
  callbackPath(reference: string): string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: Answer }>;
  get(path: string): Promise<{ status: number; body: Answer }>;
  close(): Promise<void>;
}

/** A JSON answer, read by tests that compare it with what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = Record<string, any>;

interface Options {
  readonly env?: Record<string, string>;
  readonly wrapStore?: (store: Store) => Store;
  readonly gateway?: Partial<GatewayOptions>;
  readonly temporalAddress?: string;
  /** Path of a file, or URL of a database. */
  readonly storePath?: string;
}

/** A gateway on a port of its own, with a store of its own, and the test run's Temporal server. */
export async function gatewayUnderTest(options: Options = {}): Promise<GatewayUnderTest> {
  const home = await mkdtemp(join(tmpdir(), 'towline-gateway-'));
  const settings = readSettings({
    GATEWAY_PORT: '0',
    TOWLINE_HOME: home,
    SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
    TEMPORAL_ADDRESS: options.temporalAddress ?? process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    ...options.env,
  });
  const own = await openAt(options.storePath ?? join(home, 'store.db'), { keyring });
  const store = options.wrapStore?.(own) ?? own;
  const dataConverter = createDataConverter({ keyring, namespace: NAMESPACE });
  const temporal = connectTemporal({ variables: settings.temporal, dataConverter });
  const log: Record<string, unknown>[] = [];
  const logger: Logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const taskQueue = `gateway-${randomUUID()}`;
  const closeRest = async () => {
    await temporal.close();
    await own.close();
    await rm(home, { recursive: true, force: true });
  };
  const gateway = await startGateway({
    settings,
    store,
    client: temporal.client,
    codec: createPayloadCodec({ keyring, namespace: NAMESPACE }),
    logger,
    taskQueue,
    pace: { dispatchEveryMs: 200, settleEveryMs: 100, settleAgeMs: 0 },
    ...options.gateway,
  }).catch(async (error: unknown) => {
    await closeRest();
    throw error;
  });

  const call = async (path: string, init: RequestInit) => {
    const answer = await fetch(gateway.url + path, init);
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  return {
    url: gateway.url,
    gateway,
    store,
    client: temporal.client,
    taskQueue,
    settings,
    log,
    callbackPath: (reference) => {
      const flowId = `bridge-transfer/${reference}`;
      return `/callbacks/${flowId}/${callbackCapability(store, flowId)}`;
    },
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer dev-token', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path) => call(path, { headers: { authorization: 'Bearer dev-token' } }),
    async close() {
      await gateway.close();
      await closeRest();
    },
  };
}
