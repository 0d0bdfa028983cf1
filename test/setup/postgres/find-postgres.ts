import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian and its derivatives keep what is not on the PATH, one folder for each version. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres`, or undefined if Postgres is not installed. */
export function findPostgres(env: NodeJS.ProcessEnv): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(env['PATH'] ?? '').split(delimiter)];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))));
}
