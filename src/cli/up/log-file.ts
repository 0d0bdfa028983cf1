import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { lastLines } from '../../temporal/run-command.js';

const LARGE_BYTES = 10 * 1_024 * 1_024;

/** Opens a log to append to. A large one is set aside first; the one before that goes. */
export function openLog(path: string): { readonly fd: number; close(): void } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGE_BYTES) renameSync(path, `${path}.old`);
  const fd = openSync(path, 'a', 0o600);
  return { fd, close: () => closeSync(fd) };
}

export function endOfLog(path: string): string {
  try {
    return lastLines(readFileSync(path, 'utf8'), 5);
  } catch {
    return '(no log)';
  }
}
