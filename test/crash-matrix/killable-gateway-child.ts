/**
 * A gateway in a separate process, for tests that kill it. Configured by environment variables; prints its URL when it
 * listens.
 */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { readEnvironment, readSettings } from '../../src/config/index.js';
import { startGateway } from '../../src/gateway/index.js';
import { createKeyring } from '../../src/keys/index.js';
import { openStore } from '../../src/store/libsql/open.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createPayloadCodec, createDataConverter } from '../../src/temporal/payload-codec.js';

const { env } = readEnvironment();
const settings = readSettings(env);
const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);
const namespace = 'default';
const gateway = await startGateway({
  settings,
  store: await openStore({ path: join(settings.towlineHome, 'store.db'), keyring }),
  client: connectTemporal({
    variables: settings.temporal,
    dataConverter: createDataConverter({ keyring, namespace }),
  }).client,
  codec: createPayloadCodec({ keyring, namespace }),
  logger: pino({ level: settings.logLevel }, pino.destination(2)),
  pace: { dispatchEveryMs: 200, settleEveryMs: 100, settleAgeMs: 0 },
  ...(env['TEST_TASK_QUEUE'] === undefined ? {} : { taskQueue: env['TEST_TASK_QUEUE'] }),
});
process.stdout.write(`${gateway.url}\n`);

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on('message', () => {
  const [rssMb, peakMb] = [process.memoryUsage.rss() / 2 ** 20, process.resourceUsage().maxRSS / 1_024];
  process.send?.({ rssMb, peakMb, stallP99Ms: delay.percentile(99) / 1e6, stallMaxMs: delay.max / 1e6 });
  delay.reset();
});
