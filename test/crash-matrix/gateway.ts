import { createGatewayLogger, startGateway } from '../../src/gateway/index.js';
import { readSettings } from '../../src/config/index.js';
import type { Store } from '../../src/store/store.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createPayloadCodec, createDataConverter } from '../../src/temporal/payload-codec.js';
import { ACCOUNT, keyring, NAMESPACE, SETTLEMENT_SECRET } from './fixed.js';

export interface GatewayConfig {
  readonly temporalAddress: string;
  readonly taskQueue: string;
  readonly home: string;
  /** 0 for any. */
  readonly port: number;
}

/** The real gateway, which checks by itself a little more often than by default. */
export async function openGateway(
  config: GatewayConfig,
  store: Store,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const settings = readSettings({
    GATEWAY_PORT: String(config.port),
    TOWLINE_HOME: config.home,
    SERVICE_ACCOUNT: ACCOUNT,
    SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
    TEMPORAL_ADDRESS: config.temporalAddress,
    LOG_LEVEL: 'silent',
  });
  const temporal = connectTemporal({
    variables: settings.temporal,
    dataConverter: createDataConverter({ keyring, namespace: NAMESPACE }),
  });
  const gateway = await startGateway({
    settings,
    store,
    client: temporal.client,
    codec: createPayloadCodec({ keyring, namespace: NAMESPACE }),
    logger: createGatewayLogger(settings),
    taskQueue: config.taskQueue,
    pace: { dispatchEveryMs: 250, settleEveryMs: 250, settleAgeMs: 0 },
  });
  return {
    url: gateway.url,
    async close() {
      await gateway.close();
      await temporal.close();
    },
  };
}
