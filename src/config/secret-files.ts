import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Environment, readEnvFile } from './environment.js';

/** Settings that are secrets. Each may be a file instead, by its name and `_FILE`; a list may have an entry on each line. */
export const SECRET_SETTINGS = {
  SERVICE_TOKEN: 'one',
  GATEWAY_TOKENS: 'list',
  WEBHOOK_SECRETS: 'list',
  SETTLEMENT_SECRETS: 'list',
  SETTLEMENT_CAPABILITY: 'one',
  CALLBACK_SECRETS: 'list',
  NOTIFY_URLS: 'list',
  NOTIFY_SECRETS: 'list',
  HEARTBEAT_URL: 'one',
  OTEL_EXPORTER_OTLP_HEADERS: 'one',
  PAYLOAD_KEYS: 'list',
  DATABASE_URL: 'one',
  TOWLINE_TOKEN: 'one',
  TEMPORAL_API_KEY: 'one',
} as const satisfies Readonly<Record<string, 'one' | 'list'>>;
export type SecretSetting = keyof typeof SECRET_SETTINGS;

/** Absolute paths of the files that were given. */
export type SecretFiles = Readonly<Partial<Record<SecretSetting, string>>>;

const MOST_BYTES = 65_536;

/** A secret's file cannot be used. One sentence that says what to do, without any of its content. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

/** The environment, with the content of each `…_FILE` as the value of its setting. */
export function readSecretFiles(env: Environment): {
  readonly env: Environment;
  readonly files: SecretFiles;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const files: Partial<Record<SecretSetting, string>> = {};
  const read: Record<string, string> = {};
  for (const name of Object.keys(SECRET_SETTINGS) as SecretSetting[]) {
    const given = env[`${name}_FILE`]?.trim() ?? '';
    if (given === '') continue;
    if ((env[name]?.trim() ?? '') !== '') {
      problems.push(`${name} and ${name}_FILE are both set: keep one.`);
      continue;
    }
    const path = resolve(given);
    try {
      read[name] = readSecretFile(name, path);
      files[name] = path;
    } catch (error) {
      if (!(error instanceof SecretFileError)) throw error;
      problems.push(error.message);
    }
  }
  return { env: Object.keys(read).length === 0 ? env : { ...env, ...read }, files, problems };
}

/** Whether a setting has a value, by itself or by its file. */
export const isGiven = (env: Environment, name: string): boolean =>
  [name, `${name}_FILE`].some((one) => (env[one]?.trim() ?? '') !== '');

/** A group may read, because an orchestrator mounts files that way. */
const isOpenToOthers = (mode: number): boolean => process.platform !== 'win32' && (mode & 0o037) !== 0;

/** A sentence about a `.env` file that has secrets which others can read or change; undefined if there is none. */
export function exposedSecrets(envFile: string): string | undefined {
  let file: number;
  try {
    file = openSync(envFile, 'r');
  } catch {
    // Then no setting comes from it.
    return undefined;
  }
  try {
    if (!isOpenToOthers(fstatSync(file).mode)) return undefined;
    const exposed = readEnvFile(file);
    const names = Object.keys(SECRET_SETTINGS).filter((name) => (exposed[name]?.trim() ?? '') !== '');
    if (names.length === 0) return undefined;
    return `${resolve(envFile)} is open to others, and has ${names.join(', ')}: let its owner alone read it (chmod 600).`;
  } finally {
    closeSync(file);
  }
}

/** @throws SecretFileError */
export function readSecretFile(name: SecretSetting, path: string): string {
  const refuse = (why: string) => new SecretFileError(`${name}_FILE: ${path} ${why}.`);
  try {
    const file = openSync(path, 'r');
    try {
      // Checks the opened file, not the path.
      const { mode, size } = fstatSync(file);
      if (isOpenToOthers(mode)) {
        throw refuse('is open to others: let its owner alone (chmod 400), or its group as well (chmod 440), read it');
      }
      if (size > MOST_BYTES) throw refuse('is too large for a secret');
      const text = readFileSync(file, 'utf8').trim();
      if (text === '') throw refuse('is empty');
      return SECRET_SETTINGS[name] === 'one' ? text : text.replaceAll(/[\s,]*[\r\n][\s,]*/g, ',');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof SecretFileError) throw error;
    throw refuse(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

/** The current content of a file; `now`: do not use even a slightly older value. */
export type Live<Value> = (when?: 'now') => Value;

const LOOK_EVERY_MS = 200;

/**
 * Follows a file: it is checked a few times a second while its content is used, and read when it changed. If it cannot
 * be used, the last good value stays.
 *
 * @throws what `read` throws at its first reading
 */
export function followFile<Value>(options: {
  readonly path: string;
  readonly read: () => Value;
  readonly monotonicMs: () => number;
  /** Called once for each version of the file that cannot be used. */
  readonly onBroken: (error: unknown) => void;
}): Live<Value> {
  const { path, read, monotonicMs, onBroken } = options;
  let seen = versionOf(path);
  let value = read();
  let isRefused = false;
  let lookedAtMs = monotonicMs();
  return (when) => {
    if (when !== 'now' && monotonicMs() - lookedAtMs < LOOK_EVERY_MS) return value;
    lookedAtMs = monotonicMs();
    const version = versionOf(path);
    // A refused one may be good once another file has been replaced, too.
    if (version !== seen || isRefused) {
      const isNew = version !== seen;
      seen = version;
      try {
        value = read();
        isRefused = false;
      } catch (error) {
        isRefused = true;
        if (isNew) onBroken(error);
      }
    }
    return value;
  };
}

function versionOf(path: string): string {
  try {
    const { ino, mtimeMs, size, mode } = statSync(path);
    return `${ino} ${mtimeMs} ${size} ${mode}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'none';
  }
}
