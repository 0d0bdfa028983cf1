import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { findServerExecutable } from '../../src/dev-server/find-server.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { openJournal, type Journal } from '../harness/journal.js';
import { startWireLog, type WireLog } from '../harness/wire-log.js';
import { controlOf, type Control } from '../harness/service.js';
import { startTestCluster } from '../setup/postgres/test-cluster.js';
import { openLink, type Link } from './link.js';
import { towline, type Member } from './processes.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

export type Database = 'embedded' | 'postgres';

/** The whole product as it is deployed, each part a process of its own, with wires between them that can be cut. */
export interface World {
  readonly folder: string;
  readonly workers: readonly Member[];
  readonly gateways: readonly Member[];
  readonly sandbox: Member;
  readonly temporal: Member;
  /** From the workers and gateways to Temporal, from them to the service, and from everybody to the gateways. */
  readonly links: Readonly<Record<'temporal' | 'service' | 'gateways', Link>>;
  /** What went to the service. */
  readonly wire: WireLog;
  /** What came to the gateways. */
  readonly inbound: WireLog;
  readonly journal: Journal;
  readonly control: Control['control'];
  readonly gatewayUrl: string;
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  /** Path of the file, or URL of the database. */
  readonly storePath: string;
  readonly payloadKey: { readonly id: string; readonly base64: string };
  /** What must be found nowhere. */
  readonly secrets: readonly string[];
  readonly token: string;
  /** What the command line says, run as the person on call runs it. */
  towline(...args: readonly string[]): Promise<string>;
  /** The service posts webhooks of the account there, signed. */
  subscribe(webhookUrl: string): Promise<void>;
  close(): Promise<void>;
}

const WORKERS = 3;
const GATEWAYS = 2;
const SERVICE_TIMEOUT_SECONDS = 3;
const STEP_MS = 250;
const secret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export async function openWorld(database: Database, log: (line: string) => void): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-chaos-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of closing.toReversed()) await end().catch((error: unknown) => log(String(error)));
  };
  try {
    const home = join(folder, 'home');
    const outside = join(folder, 'outside');
    await Promise.all([mkdir(home), mkdir(outside)]);
    const cluster = database === 'postgres' ? await startTestCluster(process.env, log) : undefined;
    if (cluster) closing.push(() => cluster.stop());
    const temporal = await temporalIn(outside, log);
    closing.push(() => temporal.stop());
    const [sandboxPort, ...gatewayPorts] = await Promise.all(Array.from({ length: 1 + GATEWAYS }, anyFreePort));
    const toTemporal = await openLink([temporal.port]);
    const toSandbox = await openLink([sandboxPort as number]);
    const wire = await startWireLog(`http://127.0.0.1:${toSandbox.port}`);
    const toGateways = await openLink(gatewayPorts);
    const inbound = await startWireLog(`http://127.0.0.1:${toGateways.port}`);
    const ways = [wire, inbound, toTemporal, toSandbox, toGateways];
    closing.push(() => Promise.all(ways.map((way) => way.close())));

    const key = { id: 'chaos', base64: randomBytes(32).toString('base64') };
    const token = randomBytes(24).toString('hex');
    const serviceToken = randomBytes(24).toString('hex');
    const [webhookSecret, settlementSecret] = [secret(), secret()];
    const gatewayUrl = inbound.url;
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOWLINE_HOME: home,
      TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
      SERVICE_BASE_URL: wire.url,
      DEVELOPMENT: 'true',
      SERVICE_TOKEN: serviceToken,
      SERVICE_TIMEOUT: String(SERVICE_TIMEOUT_SECONDS),
      PUBLIC_URL: gatewayUrl,
      GATEWAY_TOKENS: `chaos:admin:${token}`,
      GATEWAY_RATE_LIMIT: '0',
      UNPROVEN_RATE_LIMIT: '0',
      PAYLOAD_KEYS: `${key.id}:${key.base64}`,
      WEBHOOK_SECRETS: webhookSecret,
      SETTLEMENT_SECRETS: settlementSecret,
      LOG_LEVEL: 'warn',
      ...(cluster === undefined ? {} : { DATABASE_URL: cluster.url }),
    };
    const member = (name: string, command: string, more: Record<string, string> = {}): Member => {
      const made = towline(name, command, { ...env, ...more }, join(folder, `${name}.log`));
      closing.push(() => made.stop());
      return made;
    };
    const sandbox = member('sandbox', 'sandbox', { TOWLINE_HOME: outside, SANDBOX_PORT: String(sandboxPort) });
    const gateways = gatewayPorts.map((port, index) =>
      member(`gateway-${index + 1}`, 'gateway', { GATEWAY_PORT: String(port) }),
    );
    const workers = Array.from({ length: WORKERS }, (_, index) => member(`worker-${index + 1}`, 'worker'));
    await sandbox.start();
    const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    const { control } = controlOf(sandboxUrl);
    // Repeats are executed again: executions then count the POSTs that reached it, and a second one cannot hide.
    await control('POST', '/settings', { stepMs: STEP_MS, repeatMode: 'execute-again' });
    // The first one makes the store.
    await gateways[0]?.start();
    await Promise.all([...gateways.slice(1), ...workers].map((one) => one.start()));
    const journal = openJournal(join(outside, 'driver.jsonl'));
    closing.push(async () => journal.close());
    await writeFile(
      join(outside, 'README'),
      'What the driver ordered lies here in the clear, and so do the books of the service.\n',
    );
    return {
      folder,
      workers,
      gateways,
      sandbox,
      temporal,
      links: { temporal: toTemporal, service: toSandbox, gateways: toGateways },
      wire,
      inbound,
      journal,
      control,
      gatewayUrl,
      sandboxUrl,
      temporalAddress: temporal.address,
      storePath: cluster?.url ?? join(home, 'store.db'),
      payloadKey: key,
      secrets: [token, serviceToken, webhookSecret, settlementSecret, key.base64],
      token,
      async towline(...args) {
        const options = { env: { ...env, GATEWAY_PORT: String(gatewayPorts[0]) }, encoding: 'utf8' } as const;
        // Its exit code is not 0 where it finds something to mend.
        const ran = promisify(execFile)(
          process.execPath,
          [join(packageRoot(), 'tools', 'towline.mjs'), ...args],
          options,
        );
        return (await ran.catch((error: { stdout: string }) => error)).stdout;
      },
      async subscribe(webhookUrl) {
        await control('POST', '/settings', { webhookUrl, webhookSecret });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** On its own port for good, with its state on disk. */
async function temporalIn(
  folder: string,
  log: (line: string) => void,
): Promise<Member & { readonly port: number; readonly address: string }> {
  const { path: executable } = await findServerExecutable({ env: process.env, log });
  const port = await anyFreePort();
  let server: DevServer | undefined;
  const start = async (): Promise<void> => {
    server = await startDevServer({
      executable,
      home: folder,
      dbFile: join(folder, 'temporal.db'),
      port,
      uiPort: false,
      searchAttributes: SEARCH_ATTRIBUTES,
      log: () => undefined,
    });
  };
  await start();
  const signal = (name: NodeJS.Signals): void => {
    if (server !== undefined) process.kill(server.pid, name);
  };
  return {
    name: 'temporal',
    port,
    address: `127.0.0.1:${port}`,
    isUp: () => server !== undefined,
    start,
    async kill() {
      signal('SIGKILL');
      await server?.ended;
      server = undefined;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: async () => server?.stop(),
  };
}
