import { readKeptSecrets, writeKeptSecrets, type KeptSecret } from '../../config/index.js';
import { withFileLock } from '../../temporal/file-lock.js';
import { wasNotDone } from './account-error.js';

export interface SecretChange {
  /** Of the file that the gateways of this home follow. */
  readonly path: string;
  readonly secret: string;
  /** `WEBHOOK_SECRETS`. */
  readonly fromSetting: readonly string[];
  /** How long the old secrets count on after the service has taken the new one, ms; undefined: without an end. */
  readonly overlapMs: number | undefined;
  readonly nowMs: () => number;
}

/**
 * Sends a new webhook secret so that no event is refused meanwhile: the gateways take it before the service has it, and
 * the old ones count on for a while after. Where the service did not take it, all is as before; where that cannot be
 * told, both count, without an end.
 */
export function changeSecret<T>(change: SecretChange, send: () => Promise<T>): Promise<T> {
  const { path, secret, overlapMs, nowMs } = change;
  return withFileLock(`${path}.lock`, async () => {
    const before = readKeptSecrets(path);
    const others = before.filter((kept) => kept.secret !== secret);
    const fresh: KeptSecret = { secret, until: null };
    writeKeptSecrets(path, [fresh, ...others]);
    let answer: T;
    try {
      answer = await send();
    } catch (error) {
      if (wasNotDone(error)) writeKeptSecrets(path, before);
      throw error;
    }
    if (overlapMs !== undefined) {
      const until = new Date(nowMs() + overlapMs).toISOString();
      const old = change.fromSetting
        .filter((one) => one !== secret && !others.some((kept) => kept.secret === one))
        .map((one): KeptSecret => ({ secret: one, until: null }));
      const ending = [...others, ...old].map((kept) => ({ ...kept, until: earlier(kept.until, until) }));
      writeKeptSecrets(path, [fresh, ...ending.filter((kept) => isNeeded(kept, change))]);
    }
    return answer;
  });
}

const earlier = (left: string | null, right: string): string => (left !== null && left < right ? left : right);

/** One that has ended is kept only where it still stands in the setting: without its entry it would count again. */
function isNeeded({ secret, until }: KeptSecret, { fromSetting, nowMs }: SecretChange): boolean {
  return until === null || Date.parse(until) > nowMs() || fromSetting.includes(secret);
}
