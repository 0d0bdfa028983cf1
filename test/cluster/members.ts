import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { packageRoot } from '../../src/package-root.js';
import { towline } from '../chaos/processes.js';
import { type ProcessWithSecrets, withOwnSecrets } from '../deployment/secrets-of-processes.js';
import { controlOf, type Control } from '../harness/service.js';

export interface MembersOptions {
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Of an empty database. */
  readonly databaseUrl: string;
  readonly folder: string;
  readonly uiUrl?: string;
  /** More settings of gateways and workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** @default free ones */
  readonly gatewayPorts?: readonly number[];
}

/** Towline as it is deployed: two gateways, two workers and the service, each a separate process. */
export interface Members {
  readonly gatewayUrls: readonly string[];
  readonly sandboxUrl: string;
  readonly sandbox: Control;
  /** Of the role admin. */
  readonly token: string;
  /** Calls one of the gateways. */
  call(gateway: number, method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: number; body: Answer }>;
  stop(): Promise<void>;
}

type Answer = Record<string, unknown>;

const COUNT = 2;
const secret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export async function startMembers(options: MembersOptions): Promise<Members> {
  const { folder } = options;
  const homes = { ours: join(folder, 'home'), sandbox: join(folder, 'sandbox') };
  await Promise.all(Object.values(homes).map((home) => mkdir(home, { recursive: true })));
  const sandboxPort = await anyFreePort();
  const gatewayPorts = options.gatewayPorts ?? (await Promise.all(Array.from({ length: COUNT }, anyFreePort)));
  const gatewayUrls = gatewayPorts.map((port) => `http://127.0.0.1:${port}`);
  const token = randomBytes(24).toString('hex');
  const webhookSecret = secret();
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    TOWLINE_HOME: homes.ours,
    TEMPORAL_ADDRESS: options.temporalAddress,
    TEMPORAL_NAMESPACE: options.namespace,
    ...options.env,
    ...(options.uiUrl === undefined ? {} : { TEMPORAL_UI_URL: options.uiUrl }),
    DATABASE_URL: options.databaseUrl,
    SERVICE_BASE_URL: `http://127.0.0.1:${sandboxPort}`,
    SERVICE_TOKEN: randomBytes(24).toString('hex'),
    DEVELOPMENT: 'true',
    PUBLIC_URL: gatewayUrls[0] ?? '',
    GATEWAY_TOKENS: `cluster:admin:${token}`,
    PAYLOAD_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    WEBHOOK_SECRETS: webhookSecret,
    SETTLEMENT_SECRETS: secret(),
    CALLBACK_SECRETS: secret(),
    LOG_LEVEL: 'info',
  };
  const member = (name: string, command: 'sandbox' | ProcessWithSecrets, more: Record<string, string> = {}) =>
    towline({
      name,
      command,
      product: packageRoot(),
      env: { ...(command === 'sandbox' ? env : withOwnSecrets(command, env)), ...more },
      logFile: join(folder, `${name}.log`),
    });
  const sandbox = member('sandbox', 'sandbox', { TOWLINE_HOME: homes.sandbox, SANDBOX_PORT: String(sandboxPort) });
  const gateways = gatewayPorts.map((port, at) =>
    member(`gateway-${at + 1}`, 'gateway', { GATEWAY_PORT: String(port) }),
  );
  const workers = Array.from({ length: COUNT }, (_, at) => member(`worker-${at + 1}`, 'worker'));
  const stop = async (): Promise<void> => {
    await Promise.all([...workers, ...gateways].map((one) => one.stop()));
    await sandbox.stop();
  };
  try {
    // All at once: those that find no tables wait for the one that makes them.
    await Promise.all([sandbox, ...gateways, ...workers].map((one) => one.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const sandboxControl = controlOf(sandboxUrl);
  // The service posts webhooks of the account, too: of a KYC record it reports in no other way.
  await sandboxControl.control('POST', '/settings', { webhookUrl: await webhookUrlOf(env), webhookSecret });
  return {
    gatewayUrls,
    sandboxUrl,
    sandbox: sandboxControl,
    token,
    async call(gateway, method, path, body) {
      const answer = await fetch(`${gatewayUrls[gateway] ?? ''}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Answer };
    },
    stop,
  };
}

/** As the person who sets the service up finds it. */
async function webhookUrlOf(env: Record<string, string>): Promise<string> {
  const doctor = [join(packageRoot(), 'tools', 'towline.mjs'), 'doctor', '--show-secrets'];
  // Its exit code is not 0 if it finds a problem.
  const ran = promisify(execFile)(process.execPath, doctor, { env, encoding: 'utf8' });
  const { stdout } = await ran.catch((error: { stdout: string }) => error);
  const [url] = /http:\/\/\S+\/webhooks\/\S+/.exec(stdout) ?? [];
  if (url === undefined) throw new Error(`The doctor shows no URL for webhooks:\n${stdout}`);
  return url;
}
