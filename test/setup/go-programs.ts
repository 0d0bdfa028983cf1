import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildPrograms, pinnedVersion, type GoModule, type Program } from '../../src/dev-server/build-programs.js';
import { ensureCacheFolder } from '../../src/dev-server/download-server.js';
import { withFileLock } from '../../src/dev-server/file-lock.js';

export interface GoProgram {
  /** Its package. */
  readonly program: string;
  /** The dependency that it belongs to, whose version is a part of its name in the cache. */
  readonly of: string;
}

/**
 * Paths of programs that a module in tools/ pins, by their names in the cache; what is not there is built: minutes,
 * once per machine.
 * @param what names all of them for the user
 * @throws Error that says why they cannot be built
 */
export async function goPrograms<Name extends string>(
  what: string,
  by: GoModule,
  programs: Readonly<Record<Name, GoProgram>>,
  log: (line: string) => void,
): Promise<Readonly<Record<Name, string>>> {
  const cache = await ensureCacheFolder(process.env);
  const all = await Promise.all(
    Object.entries<GoProgram>(programs).map(async ([name, { program, of }]) => {
      return { name, program, target: join(cache, `${name}-${await pinnedVersion(of, by)}`) };
    }),
  );
  const build = async (): Promise<void> => {
    const missing: readonly Program[] = all.filter(({ target }) => !existsSync(target));
    if (missing.length === 0) return;
    const whyNot = await buildPrograms(process.env, log, what, missing, by);
    if (whyNot !== undefined) throw new Error(`Not here: ${what}. Install Go: ${whyNot}`);
  };
  await withFileLock(join(cache, `${by}.lock`), build, {
    onWait: () => log(`another process is building ${what}: waiting for it`),
  });
  return Object.fromEntries(all.map(({ name, target }) => [name, target])) as Record<Name, string>;
}
