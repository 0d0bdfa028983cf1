import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface GivenEnvironment {
  readonly env: Environment;
  /** Names whose value the file gave. */
  readonly fromFile: ReadonlySet<string>;
}

/**
 * Names that say which programs run, or what they load. Whose folder it is might not be whose machine it is: a file in it
 * must not run anything.
 */
const OF_PROGRAMS = /^(NODE_|LD_|DYLD_|GO|npm_|(PATH|TEMPORAL_CLI_PATH|TOWLINE_CACHE)$)/;

/**
 * The only place that reads `process.env`: the variables of the process, and those of a `.env` file in the working
 * folder for names that the process does not have. Nothing is written back to `process.env`.
 */
export function readEnvironment(ofProcess: Environment = process.env, file = '.env'): GivenEnvironment {
  const added = Object.entries(readEnvFile(file)).filter(
    ([name]) => ofProcess[name] === undefined && !OF_PROGRAMS.test(name),
  );
  return { env: { ...ofProcess, ...Object.fromEntries(added) }, fromFile: new Set(added.map(([name]) => name)) };
}

/** Empty if there is none that can be read. */
export function readEnvFile(path: string | number): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

/** The environment does not make usable settings. One sentence for each problem; no secret is ever in it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
