import { closeSync, fstatSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Environment, readEnvFile } from './environment.js';
import { isOpenToOthers, readSecretFile, SecretFileError } from './secret-files.js';
import { SECRET_SETTINGS } from './table/index.js';

/** Absolute paths of the files that were given, by the names of their settings. */
export type SecretFiles = Readonly<Record<string, string>>;

/** The environment, with the content of each `…_FILE` as the value of its setting. */
export function readSecretFiles(env: Environment): {
  readonly env: Environment;
  readonly files: SecretFiles;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const files: Record<string, string> = {};
  const read: Record<string, string> = {};
  for (const [name, form] of SECRET_SETTINGS) {
    const given = env[`${name}_FILE`]?.trim() ?? '';
    if (given === '') continue;
    if ((env[name]?.trim() ?? '') !== '') {
      problems.push(`${name} and ${name}_FILE are both set: keep one.`);
      continue;
    }
    const path = resolve(given);
    try {
      read[name] = readSecretFile(name, path, form);
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
    const names = [...SECRET_SETTINGS.keys()].filter((name) => (exposed[name]?.trim() ?? '') !== '');
    if (names.length === 0) return undefined;
    return `${resolve(envFile)} is open to others, and has ${names.join(', ')}: let its owner alone read it (chmod 600).`;
  } finally {
    closeSync(file);
  }
}
