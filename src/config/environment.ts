import { config } from 'dotenv';

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The one place that reads `process.env`: the variables of the process, and those of a `.env` file in the working folder
 * for names that the process does not have. Nothing is written back to `process.env`.
 */
export function readEnvironment(): Environment {
  const merged: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) merged[name] = value;
  config({ processEnv: merged, quiet: true });
  return merged;
}
