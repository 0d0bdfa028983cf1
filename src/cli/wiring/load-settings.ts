import { randomBytes } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Environment,
  exposedSecrets,
  isGiven,
  readSettings,
  type Settings,
  SettingsError,
} from '../../config/index.js';
import { runningServerOfHome, type ServerOfHome } from '../../dev-server/server-of-home.js';
import { makePrivateFile } from '../../keys/index.js';
import { CliError } from '../exit-codes.js';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly home: Home;
}

/** Has a form that passes every check, so that the other settings can be read before the secrets are known. */
const STAND_IN: DevelopmentSecrets = {
  SERVICE_TOKEN: 'stand-in',
  SETTLEMENT_SECRETS: `whsec_${Buffer.alloc(32).toString('base64')}`,
};

/**
 * The settings of this process. In development, the service token and the settlement secret need not be set: they are
 * made once and kept in TOWLINE_HOME, so that sandbox, gateway and worker agree. Outside of development, secrets in a
 * `.env` file that others can read are refused, like those in files of their own.
 * @throws SettingsError
 */
export async function loadSettings(env: Environment, envFile = '.env'): Promise<LoadedSettings> {
  const settings = settingsWith(env, STAND_IN);
  if (settings?.development !== true) {
    const { towlineHome } = readSettings(env);
    const exposed = exposedSecrets(envFile);
    if (exposed !== undefined) throw new SettingsError([exposed]);
    const home = await ensureHome(towlineHome);
    return { settings: readSettings(await withTemporal(env, home)), home };
  }
  const home = await ensureHome(settings.towlineHome);
  const complete = completed(env, await loadOrMakeSecrets(home.secrets));
  return { settings: readSettings(await withTemporal(complete, home)), home };
}

/** Where no address is set, Temporal is the server that runs for this home, at the ports that it took. */
async function withTemporal(env: Environment, { temporal }: Home): Promise<Environment> {
  if (isGiven(env, 'TEMPORAL_ADDRESS')) return env;
  const server = await runningServerOfHome(temporal);
  return server === undefined ? env : atOwnServer(env, server);
}

/**
 * A namespace, TLS or an API key that is set for another server does not fit ours. Set to empty and not removed: our
 * processes would read a removed one from the `.env` file again.
 */
export function atOwnServer(env: Environment, { port, uiPort }: Pick<ServerOfHome, 'port' | 'uiPort'>): Environment {
  const others = Object.keys(env).filter((name) => name.startsWith('TEMPORAL_'));
  return {
    ...env,
    ...Object.fromEntries(others.map((name) => [name, ''])),
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TEMPORAL_NAMESPACE: 'default',
    ...(uiPort === undefined ? {} : { TEMPORAL_UI_URL: `http://127.0.0.1:${uiPort}` }),
  };
}

function settingsWith(env: Environment, secrets: DevelopmentSecrets): Settings | undefined {
  try {
    return readSettings(completed(env, secrets));
  } catch {
    // Read again as given: the problems are reported from there.
    return undefined;
  }
}

function completed(env: Environment, secrets: DevelopmentSecrets): Environment {
  return {
    ...env,
    ...(isGiven(env, 'SERVICE_TOKEN') ? {} : { SERVICE_TOKEN: secrets.SERVICE_TOKEN }),
    ...(isGiven(env, 'SETTLEMENT_SECRETS') ? {} : { SETTLEMENT_SECRETS: secrets.SETTLEMENT_SECRETS }),
  };
}

/** What sandbox, gateway and worker must agree on, by the names of its settings. */
interface DevelopmentSecrets {
  readonly SERVICE_TOKEN: string;
  readonly SETTLEMENT_SECRETS: string;
}

const NAMES = ['SERVICE_TOKEN', 'SETTLEMENT_SECRETS'] as const satisfies readonly (keyof DevelopmentSecrets)[];

/** Secrets for development, from a file that only its owner can read; made at the first start and then kept. */
async function loadOrMakeSecrets(path: string): Promise<DevelopmentSecrets> {
  return (await read(path)) ?? (await make(path));
}

async function read(path: string): Promise<DevelopmentSecrets | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CliError(`${path} cannot be opened (${error.code ?? 'unknown error'}): check its permissions.`);
  });
  if (file === undefined) return undefined;
  try {
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new CliError(`Others can read ${path}: run "chmod 600 ${path}", or remove it to have new secrets made.`);
    }
    const lines = (await file.readFile('utf8')).split('\n').map((line) => line.split('='));
    const found = Object.fromEntries(lines.map(([name, ...rest]) => [name, rest.join('=')]));
    if (NAMES.some((name) => !found[name])) {
      throw new CliError(`${path} does not hold the secrets of development: remove it to have new ones made.`);
    }
    return found as Record<keyof DevelopmentSecrets, string>;
  } finally {
    await file.close();
  }
}

/** If two processes start at once, both read the winner's secrets. */
async function make(path: string): Promise<DevelopmentSecrets> {
  const secrets: DevelopmentSecrets = {
    SERVICE_TOKEN: `sandbox-${randomBytes(24).toString('base64url')}`,
    SETTLEMENT_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
  };
  await makePrivateFile(path, NAMES.map((name) => `${name}=${secrets[name]}\n`).join(''));
  return (await read(path)) ?? secrets;
}

/** The layout of TOWLINE_HOME. It also holds the payload keys of development: `keys`, see `src/keys`. */
export interface Home {
  readonly folder: string;
  /** Claims and inbox. */
  readonly store: string;
  /** State of the sandbox. */
  readonly sandbox: string;
  /** State of our own Temporal server. */
  readonly temporal: string;
  /** Secrets that were made for development. */
  readonly secrets: string;
  /** Names the `towline up` that runs here. */
  readonly lock: string;
  readonly logs: string;
}

function homeOf(folder: string): Home {
  return {
    folder,
    store: join(folder, 'store.db'),
    sandbox: join(folder, 'sandbox.db'),
    temporal: join(folder, 'temporal.db'),
    secrets: join(folder, 'secrets'),
    lock: join(folder, 'up.lock'),
    logs: join(folder, 'logs'),
  };
}

/** Makes the folder, for its owner alone. */
export async function ensureHome(folder: string): Promise<Home> {
  const home = homeOf(folder);
  try {
    await mkdir(home.logs, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CliError(`${folder} cannot be made (${code}): set TOWLINE_HOME to a folder that can be written.`);
  }
  return home;
}
