import type { z } from 'zod';
import type { Environment } from './environment.js';

/** Reads one setting after the other and keeps every problem, so that a person repairs them in one go. */
export interface SettingReader {
  /** The parsed value; undefined (and a problem) where it does not fit. An empty variable counts as absent. */
  readonly read: <T>(name: string, schema: z.ZodType<T, string | undefined>) => T | undefined;
  readonly problem: (sentence: string) => void;
  readonly problems: readonly string[];
}

export function createSettingReader(env: Environment): SettingReader {
  const problems: string[] = [];
  return {
    problems,
    problem: (sentence) => void problems.push(sentence),
    read(name, schema) {
      const text = env[name]?.trim();
      const parsed = schema.safeParse(text === '' ? undefined : text);
      if (parsed.success) return parsed.data;
      // Our schemas' messages never repeat the input, which may be a secret.
      for (const issue of parsed.error.issues) problems.push(`${name} ${issue.message}.`);
      return undefined;
    },
  };
}
