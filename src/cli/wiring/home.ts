import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.js';

/** What lies where in TOWLINE_HOME. Payload keys of development lie in it, too: `keys`, see `src/keys`. */
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

export function homeOf(folder: string): Home {
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
