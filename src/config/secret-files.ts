import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

const MOST_BYTES = 65_536;

/** A secret's file cannot be used. One sentence that says what to do, without any of its content. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

/** A group may read, because an orchestrator mounts files that way. */
export const isOpenToOthers = (mode: number): boolean => process.platform !== 'win32' && (mode & 0o037) !== 0;

/**
 * @param name of the setting
 * @param form a list may have an entry on each line
 * @throws SecretFileError
 */
export function readSecretFile(name: string, path: string, form: 'one' | 'list' = 'one'): string {
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
      return form === 'one' ? text : text.replaceAll(/[\s,]*[\r\n][\s,]*/g, ',');
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
