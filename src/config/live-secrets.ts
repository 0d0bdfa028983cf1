import { SettingsError } from './environment.js';
import { tokensProblem } from './gateway-tokens.js';
import { targetsProblem } from './notify-urls.js';
import { refusedSecrets } from './production.js';
import { followFile, type Live, readSecretFile } from './secret-files.js';
import type { LiveSecret, Settings, SettingsOfSecrets } from './settings-shape.js';
import { SETTINGS } from './table/index.js';
import { readSetting, type Setting } from './table/setting.js';

/** Secrets that may be replaced while a process runs: a `…_FILE` is read again when it changes. */
export type LiveSecrets = { readonly [Member in LiveSecret]: Live<Settings[Member]> };

/** What a process logs, together with the problem. */
export const BROKEN_SECRET = 'a secret cannot be read: the last good one counts';

/** @param options.onBroken called with a sentence if a file cannot be used any more; the last good value stays valid */
export function followSecrets(
  settings: SettingsOfSecrets,
  options: { readonly onBroken: (problem: string) => void; readonly monotonicMs?: () => number },
): LiveSecrets {
  const { onBroken, monotonicMs = () => performance.now() } = options;

  /** As they are now: one that is replaced must be good beside all others. */
  let present = settings;

  const follow = (member: LiveSecret): Live<unknown> => {
    const { name, secret }: Setting = SETTINGS[member];
    const path = settings.secretFiles[name];
    if (path === undefined) return () => settings[member];
    const read = (): unknown => {
      const problems: string[] = [];
      const env = { [name]: readSecretFile(name, path, secret) };
      const value = readSetting(SETTINGS[member], env, (problem) => problems.push(problem));
      const replaced = { ...present, [member]: value };
      if (problems.length === 0) problems.push(...problemsOf(replaced));
      if (problems.length > 0) throw new SettingsError([`${name}_FILE: ${problems.join(' ')}`]);
      present = replaced;
      return value;
    };
    return followFile({ path, read, monotonicMs, onBroken: (error) => onBroken((error as Error).message) });
  };

  const live = Object.entries<Setting>(SETTINGS).filter(([, setting]) => setting.live);
  return Object.fromEntries(live.map(([member]) => [member, follow(member as LiveSecret)])) as unknown as LiveSecrets;
}

/** What a start would refuse, too. */
function problemsOf(settings: SettingsOfSecrets): readonly string[] {
  const problem =
    tokensProblem(settings.gatewayTokens, settings) ?? targetsProblem(settings.notifyTargets, settings.notifySecrets);
  return problem === undefined ? refusedSecrets(settings) : [problem];
}
