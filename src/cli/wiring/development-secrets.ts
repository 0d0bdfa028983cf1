import { randomBytes } from 'node:crypto';
import { link, open, unlink } from 'node:fs/promises';
import { CliError } from '../cli-error.js';

/** What sandbox, gateway and worker must agree on, by the names of its settings. */
export interface DevelopmentSecrets {
  readonly SERVICE_TOKEN: string;
  readonly SETTLEMENT_SECRETS: string;
}

const NAMES = ['SERVICE_TOKEN', 'SETTLEMENT_SECRETS'] as const satisfies readonly (keyof DevelopmentSecrets)[];

/** Secrets for development, from a file that only its owner can read; made at the first start and then kept. */
export async function loadOrMakeSecrets(path: string): Promise<DevelopmentSecrets> {
  return (await read(path)) ?? (await make(path));
}

async function read(path: string): Promise<DevelopmentSecrets | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CliError(`${path} cannot be opened (${error.code ?? 'unknown error'}): see to its permissions.`);
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

/** Written aside and linked into place: of two processes that start at once one wins, and both read its secrets. */
async function make(path: string): Promise<DevelopmentSecrets> {
  const secrets: DevelopmentSecrets = {
    SERVICE_TOKEN: `sandbox-${randomBytes(24).toString('base64url')}`,
    SETTLEMENT_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
  };
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(NAMES.map((name) => `${name}=${secrets[name]}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  return (await read(path)) ?? secrets;
}
