import type { z } from 'zod';
import type { Environment } from '../environment.js';

/** A row of the table of settings. */
export interface Setting {
  /** Of its environment variable. */
  readonly name: string;
  /** From the variable's text, or undefined if it is not set. Its messages never repeat the text, which may be a secret. */
  readonly schema: z.ZodType<unknown, string | undefined>;
  /** In place of a default, for the page: a value that depends on others, or what it means to have none. */
  readonly derived?: string;
  /** For the page. */
  readonly sentence: string;
  /** A secret, which may be a file instead; a list may have an entry on each line of it. */
  readonly secret?: 'one' | 'list';
  /** A running process reads the file of this secret again when it changes. */
  readonly live?: true;
  /** What of its value must be random, and of no other setting. */
  readonly random?: (value: never) => readonly string[];
}

/** Settings by the members of their values. */
export type SettingGroup = Readonly<Record<string, Setting>>;
export type ValuesOf<Group extends SettingGroup> = {
  readonly [Member in keyof Group]: z.infer<Group[Member]['schema']>;
};

/** A setting that other programs read, or a part of ours from the environment itself. */
export interface SettingElsewhere extends Pick<Setting, 'name' | 'derived' | 'secret'> {
  readonly byDefault?: string;
  /** Undefined: it has no row of its own on the page. */
  readonly sentence?: string;
}

/** @param problem called with a sentence for each problem; the setting then has the value as if it were not set */
export function readSetting<Row extends Setting>(
  { name, schema }: Row,
  env: Environment,
  problem: (sentence: string) => void,
): z.infer<Row['schema']> {
  const parsed = schema.safeParse(env[name]?.trim() || undefined);
  if (parsed.success) return parsed.data as z.infer<Row['schema']>;
  for (const { message } of parsed.error.issues) problem(`${name} ${message}.`);
  return schema.parse(undefined) as z.infer<Row['schema']>;
}

/** All settings of a group; see {@link readSetting}. */
export function readSettingGroup<Group extends SettingGroup>(
  group: Group,
  env: Environment,
  problem: (sentence: string) => void,
): ValuesOf<Group> {
  const values = Object.entries(group).map(([member, setting]) => [member, readSetting(setting, env, problem)]);
  return Object.fromEntries(values) as ValuesOf<Group>;
}
