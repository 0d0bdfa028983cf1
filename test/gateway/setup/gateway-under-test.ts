import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Connection } from '@temporalio/client';
import type { GatewayOptions } from '../../../src/gateway/index.js';
import type { Store } from '../../../src/store/store.js';
import { connectTemporal } from '../../../src/temporal/connection.js';
import { createDataConverter } from '../../../src/temporal/payload-codec.js';
import { keyring, NAMESPACE } from '../../harness/fixed.js';
import { openGateway, type TestGateway } from '../../harness/gateway.js';
import { openNamespace } from '../../harness/namespace.js';
import { openAt } from '../../store/temporary-store.js';
import { threadInProcess } from '../../store/thread-in-process.js';

export interface GatewayUnderTest extends TestGateway {
  readonly store: Store;
  readonly client: Client;
  readonly taskQueue: string;
  readonly namespace: string;
}

interface Options {
  /** One of the test's own is opened first. @default the shared one */
  readonly namespace?: string;
  readonly env?: Record<string, string>;
  readonly wrapStore?: (store: Store) => Store;
  readonly gateway?: Partial<GatewayOptions>;
  readonly temporalAddress?: string;
  /** Path of a file, or URL of a database. */
  readonly storePath?: string;
  /** @default the system's clock */
  readonly storeNowMs?: () => number;
}

/** A gateway and its store alone: no worker, no service. Temporal need not be there. */
export async function gatewayUnderTest(options: Options = {}): Promise<GatewayUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-gateway-store-'));
  const own = await openAt(options.storePath ?? join(folder, 'store.db'), {
    keyring,
    startThread: threadInProcess,
    ...(options.storeNowMs === undefined ? {} : { now: options.storeNowMs }),
  });
  const store = options.wrapStore?.(own) ?? own;
  const temporalAddress = options.temporalAddress ?? process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const { namespace = NAMESPACE } = options;
  const dataConverter = createDataConverter({ keyring, namespace });
  const variables = { TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace };
  const temporal = connectTemporal({ variables, dataConverter });
  const { client } = temporal;
  if (namespace !== NAMESPACE) await openNamespace(client.connection as Connection, namespace);
  const taskQueue = `gateway-${randomUUID()}`;
  const closeRest = async () => {
    await temporal.close();
    await own.close();
    await rm(folder, { recursive: true, force: true });
  };
  const tested = await openGateway({
    temporalAddress,
    store,
    client,
    taskQueue,
    namespace,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.gateway === undefined ? {} : { options: options.gateway }),
  }).catch(async (error: unknown) => {
    await closeRest();
    throw error;
  });
  return {
    ...tested,
    store,
    client,
    taskQueue,
    namespace,
    async close() {
      await tested.close();
      await closeRest();
    },
  };
}
