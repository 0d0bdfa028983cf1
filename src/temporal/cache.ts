import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './environment.js';

/** Where what was built or downloaded lies, outside of any clone. @default ~/.cache/towline */
export function cacheFolder(env: Environment): string {
  return env.TOWLINE_CACHE || join(homedir(), '.cache', 'towline');
}

export async function ensureCacheFolder(env: Environment): Promise<string> {
  const folder = cacheFolder(env);
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw new Error(`The cache folder ${folder} cannot be made. Set TOWLINE_CACHE to a folder that can be written.`, {
      cause,
    });
  }
  return folder;
}
