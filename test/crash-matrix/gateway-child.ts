/*
 * A gateway in a separate process, which a test may kill: the real one, plus the crash points. `node --import
 * ./tools/typescript.mjs test/crash-matrix/gateway-child.ts CONFIG`, with an IPC channel to the test.
 */
import { config, onOrders, say } from './child.js';
import { createCrashPoints, type Hold } from './crash-points.js';
import { keyring } from './fixed.js';
import { openAt } from '../store/temporary-store.js';
import { openGateway, type GatewayConfig } from './gateway.js';

export interface GatewayChildConfig extends GatewayConfig {
  /** Path of a file, or URL of a database. */
  readonly storePath: string;
  readonly holds: readonly Hold[];
  /** Its store's clock is that far ahead, ms: as if it had started so much later. */
  readonly laterMs: number;
}

const { storePath, holds, laterMs, ...options } = config() as GatewayChildConfig;
const crashPoints = createCrashPoints(holds, say);
const store = await openAt(storePath, { keyring, now: () => Date.now() + laterMs });
const gateway = await openGateway(options, crashPoints.store(store));

onOrders({
  release: () => crashPoints.release(),
  async shutdown() {
    await gateway.close();
    await store.close();
  },
});
say({ kind: 'ready', url: gateway.url });
