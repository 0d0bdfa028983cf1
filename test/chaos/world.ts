import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { openJournal, type Journal } from '../harness/journal.js';
import { openWire, openWireRecord, type Moment, type WireRecord, type WireRequest } from '../harness/wire-log.js';
import { controlOf, type Control } from '../harness/service.js';
import type { RepeatMode } from '../../src/sandbox/settings.js';
import { startTestCluster } from '../setup/postgres/test-cluster.js';
import { openLink, type Link } from './link.js';
import { temporalIn, towline, type Member } from './processes.js';

export const DATABASES = ['embedded', 'postgres'] as const;
export type Database = (typeof DATABASES)[number];

export interface WorldOptions {
  readonly database: Database;
  /** What the service does with a reference that it has executed already. */
  readonly repeatMode: RepeatMode;
  readonly workers: number;
  readonly gateways: number;
  /** For one request to the service, seconds. @default 3 */
  readonly serviceTimeoutSeconds?: number;
  /** Further settings of all its processes. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout whose `dist/` is run. @default this one */
  readonly product?: string;
  readonly log: (line: string) => void;
}

/** A moment on the wire of one process: to the service, or in to a gateway. */
export interface WireMoment {
  readonly of: 'service' | 'inbound';
  /** Name of the worker or gateway. */
  readonly who: string;
  readonly moment: Moment;
  readonly request: WireRequest;
}

/** A process was killed or frozen. */
export interface Strike {
  readonly who: string;
  readonly atMs: number;
}

/** What it returns is awaited before anything more passes there. */
export type AtWire = (seen: WireMoment) => Promise<void> | undefined;

const namesOf = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${word}-${index + 1}`);

/** The whole product as it is deployed, each part a separate process, with wires between them that can be cut. */
export interface World {
  readonly folder: string;
  readonly workers: readonly Member[];
  readonly gateways: readonly Member[];
  readonly sandbox: Member;
  readonly temporal: Member;
  /** From the workers and gateways to Temporal, from them to the service, and from all clients to the gateways. */
  readonly links: Readonly<Record<'temporal' | 'service' | 'gateways', Link>>;
  /** What went to the service. */
  readonly wire: WireRecord;
  /** Requests to the gateways. */
  readonly inbound: WireRecord;
  /** The observer of the wires, who may hold what passes there. */
  readonly watch: { atWire: AtWire | undefined };
  /** Both logs, as they are written. */
  readonly wireFiles: { readonly service: string; readonly gateways: string };
  /** When a process of the product, or the sandbox, was killed or frozen. */
  readonly strikes: readonly Strike[];
  readonly journal: Journal;
  readonly control: Control['control'];
  readonly gatewayUrl: string;
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  /** Path of the file, or URL of the database. */
  readonly storePath: string;
  /** Of the workflows that run. */
  readonly bundlePath: string;
  /** The service's own secret, with which a driver can post as the service does. */
  readonly webhookSecret: string;
  readonly settlementSecret: string;
  readonly payloadKey: { readonly id: string; readonly base64: string };
  /** What must be found nowhere. */
  readonly secrets: readonly string[];
  readonly token: string;
  /** The output of the command line, run as the person on call runs it. */
  towline(...args: readonly string[]): Promise<string>;
  /** The service posts webhooks of the account there, signed. */
  subscribe(webhookUrl: string): Promise<void>;
  close(): Promise<void>;
}

const SERVICE_TIMEOUT_SECONDS = 3;
const STEP_MS = 250;
const secret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export async function openWorld({
  database,
  repeatMode,
  product = packageRoot(),
  serviceTimeoutSeconds = SERVICE_TIMEOUT_SECONDS,
  env: more = {},
  log,
  ...many
}: WorldOptions): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-chaos-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of closing.toReversed()) await end().catch((error: unknown) => log(String(error)));
  };
  try {
    const home = join(folder, 'home');
    const outside = join(folder, 'outside');
    await Promise.all([mkdir(home), mkdir(outside)]);
    const wireFiles = { service: join(outside, 'wire.jsonl'), gateways: join(outside, 'inbound.jsonl') };
    const cluster = database === 'postgres' ? await startTestCluster(process.env, log) : undefined;
    if (cluster) closing.push(() => cluster.stop());
    const temporal = await temporalIn(outside, log);
    closing.push(() => temporal.stop());
    const [sandboxPort, ...gatewayPorts] = await Promise.all(Array.from({ length: 1 + many.gateways }, anyFreePort));
    const gateways: Member[] = [];
    const [workerNames, gatewayNames] = [namesOf('worker', many.workers), namesOf('gateway', many.gateways)];
    const toTemporal = await openLink(() => [temporal.port]);
    const toSandbox = await openLink(() => [sandboxPort as number]);
    const [wire, inbound] = [openWireRecord(wireFiles.service), openWireRecord(wireFiles.gateways)];
    const watch: { atWire: AtWire | undefined } = { atWire: undefined };
    const wireOf = (of: 'service' | 'inbound', who: string) => ({
      who,
      gate: (moment: Moment, request: WireRequest) => watch.atWire?.({ of, who, moment, request }),
    });
    const strikes: Strike[] = [];
    const toService = new Map<string, string>();
    const ways: { close(): unknown }[] = [toTemporal, toSandbox, wire, inbound];
    closing.push(() => Promise.all(ways.map(async (way) => way.close())));
    for (const name of [...workerNames, ...gatewayNames]) {
      const way = await openWire(`http://127.0.0.1:${toSandbox.port}`, wire, wireOf('service', name));
      toService.set(name, way.url);
      ways.push(way);
    }
    const wires = await Promise.all(
      gatewayPorts.map((port, index) =>
        openWire(`http://127.0.0.1:${port}`, inbound, wireOf('inbound', gatewayNames[index] ?? '')),
      ),
    );
    ways.push(...wires);
    const toGateways = await openLink(() =>
      wires.flatMap(({ port }, index) => (gateways[index]?.isUp() ? [port] : [])),
    );
    ways.push(toGateways);
    const key = { id: 'chaos', base64: randomBytes(32).toString('base64') };
    const token = randomBytes(24).toString('hex');
    const serviceToken = randomBytes(24).toString('hex');
    const [webhookSecret, settlementSecret] = [secret(), secret()];
    const gatewayUrl = `http://127.0.0.1:${toGateways.port}`;
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOWLINE_HOME: home,
      TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
      SERVICE_BASE_URL: `http://127.0.0.1:${toSandbox.port}`,
      DEVELOPMENT: 'true',
      SERVICE_TOKEN: serviceToken,
      SERVICE_TIMEOUT: String(serviceTimeoutSeconds),
      PUBLIC_URL: gatewayUrl,
      GATEWAY_TOKENS: `chaos:admin:${token}`,
      GATEWAY_RATE_LIMIT: '0',
      UNPROVEN_RATE_LIMIT: '0',
      PAYLOAD_KEYS: `${key.id}:${key.base64}`,
      WEBHOOK_SECRETS: webhookSecret,
      SETTLEMENT_SECRETS: settlementSecret,
      LOG_LEVEL: 'warn',
      ...(cluster === undefined ? {} : { DATABASE_URL: cluster.url }),
      ...more,
    };
    /** So that each request can be attributed to its process. */
    const ownWay = (name: string): Record<string, string> => ({ SERVICE_BASE_URL: toService.get(name) ?? '' });
    const member = (name: string, command: string, own: Record<string, string> = {}): Member => {
      const made = towline({ name, command, product, env: { ...env, ...own }, logFile: join(folder, `${name}.log`) });
      closing.push(() => made.stop());
      const struck = () => void strikes.push({ who: name, atMs: Date.now() });
      return {
        ...made,
        kill() {
          struck();
          return made.kill();
        },
        freeze() {
          struck();
          made.freeze();
        },
      };
    };
    const sandbox = member('sandbox', 'sandbox', { TOWLINE_HOME: outside, SANDBOX_PORT: String(sandboxPort) });
    gateways.push(
      ...gatewayNames.map((name, index) =>
        member(name, 'gateway', { ...ownWay(name), GATEWAY_PORT: String(gatewayPorts[index]) }),
      ),
    );
    const workers = workerNames.map((name) => member(name, 'worker', ownWay(name)));
    await sandbox.start();
    const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    const { control } = controlOf(sandboxUrl);
    await control('POST', '/settings', { stepMs: STEP_MS, repeatMode });
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
      wireFiles,
      strikes,
      watch,
      journal,
      control,
      gatewayUrl,
      sandboxUrl,
      temporalAddress: temporal.address,
      storePath: cluster?.url ?? join(home, 'store.db'),
      bundlePath: join(product, 'dist', 'workflow-bundle.js'),
      webhookSecret,
      settlementSecret,
      payloadKey: key,
      secrets: [token, serviceToken, webhookSecret, settlementSecret, key.base64],
      token,
      async towline(...args) {
        const options = { env: { ...env, GATEWAY_PORT: String(gatewayPorts[0]) }, encoding: 'utf8' } as const;
        // Its exit code is not 0 if it finds a problem.
        const ran = promisify(execFile)(process.execPath, [join(product, 'tools', 'towline.mjs'), ...args], options);
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
