import { readSettings, SettingsError } from '../../src/config/index.js';

/** Each problem of these settings begins with the name of its setting. @returns those names, in the order of the problems */
export function settingsAtFault(env: Readonly<Record<string, string>>): readonly string[] {
  return problemsOf(env).map(settingOf);
}

export const settingOf = (problem: string): string => /^[A-Z][A-Z_]*/.exec(problem)?.[0] ?? problem;

export function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}
