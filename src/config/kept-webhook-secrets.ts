import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/*
 * The webhook secrets that `towline account` sent to the service: a file in TOWLINE_HOME that every gateway of this
 * home follows while it runs, in addition to WEBHOOK_SECRETS. For a secret that is in both, the file wins, so that a
 * secret that was rotated out expires even if it is still in WEBHOOK_SECRETS.
 */

const KeptSecret = z.strictObject({
  secret: z.string().min(1),
  /** ISO 8601; null: without an end. */
  until: z.iso.datetime().nullable(),
});
export type KeptSecret = z.infer<typeof KeptSecret>;

const SecretsFile = z.strictObject({ secrets: z.array(KeptSecret) });

/** The file cannot be used. A sentence that says what to do, without any of its content. */
export class KeptSecretsError extends Error {
  override readonly name = 'KeptSecretsError';
}

export const keptSecretsPath = (towlineHome: string): string => join(towlineHome, 'webhook-secrets');

/** Empty if there is no file. @throws KeptSecretsError */
export function readKeptSecrets(path: string): readonly KeptSecret[] {
  const text = read(path);
  if (text === undefined) return [];
  try {
    return SecretsFile.parse(JSON.parse(text)).secrets;
  } catch {
    throw new KeptSecretsError(`${path} does not hold webhook secrets as "towline account webhook" writes them.`);
  }
}

/**
 * Whole or not at all, and on disk before it returns: the service may sign with one of these secrets a moment later.
 */
export function writeKeptSecrets(path: string, secrets: readonly KeptSecret[]): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, `${JSON.stringify({ secrets }, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new KeptSecretsError(`${path} cannot be written (${codeOf(error)}): check its folder and its disk.`);
  }
}

/**
 * In place of secrets that have all expired, or that another gateway alone has: the service can sign, so what is not signed
 * proves nothing, and no one has this one.
 */
export const NONE_IN_FORCE = `whsec_${randomBytes(32).toString('base64')}`;

/** The secrets that are valid now: unexpired ones of the file, and those of the setting that are not in the file. */
export function secretsInForce(
  fromSetting: readonly string[],
  kept: readonly KeptSecret[],
  nowMs: number,
): readonly string[] {
  const live = kept.filter(({ until }) => until === null || Date.parse(until) > nowMs).map(({ secret }) => secret);
  const inForce = [...live, ...fromSetting.filter((secret) => !kept.some((one) => one.secret === secret))];
  return inForce.length === 0 && kept.length > 0 ? [NONE_IN_FORCE] : inForce;
}

function read(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      if (process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0) {
        throw new KeptSecretsError(`Others can read ${path}: run "chmod 600 ${path}".`);
      }
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof KeptSecretsError) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new KeptSecretsError(`${path} cannot be opened (${codeOf(error)}): check its permissions.`);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';
