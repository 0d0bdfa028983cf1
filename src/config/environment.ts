import { config } from 'dotenv';

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The only place that reads `process.env`: the variables of the process, and those of a `.env` file in the working
 * folder for names that the process does not have. Nothing is written back to `process.env`.
 */
export function readEnvironment(): Environment {
  const merged: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) merged[name] = value;
  config({ processEnv: merged, quiet: true });
  return merged;
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
