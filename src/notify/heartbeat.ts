import { systemClock, type Clock } from '../clock.js';
import { postTo } from './send.js';

export interface HeartbeatDeps {
  /** `HEARTBEAT_URL`. Undefined: none is sent. */
  readonly heartbeatUrl: string | undefined;
  /** Rejects where Temporal does not answer. */
  readonly askTemporal: () => Promise<unknown>;
  readonly clock: Clock;
}

const EVERY_MS = 60_000;

/**
 * The sign that somebody is called if something is wrong: where it stays away, nobody would be. It comes once a minute
 * from the process that notifies, and only after everything could be checked; what could not goes to `…/fail`.
 */
export function createHeartbeat({
  heartbeatUrl,
  askTemporal = () => Promise.resolve(),
  countOpen,
  clock = systemClock,
}: Partial<HeartbeatDeps> & { readonly countOpen: () => Promise<number> }) {
  let lastMs = -Infinity;
  return {
    async beat(isOurs: boolean, away?: 'store'): Promise<void> {
      if (heartbeatUrl === undefined || (!isOurs && away === undefined)) return;
      if (clock.monotonicMs() - lastMs < EVERY_MS) return;
      lastMs = clock.monotonicMs();
      const open = away === undefined ? await countOpen().catch(() => undefined) : undefined;
      const temporal = await askTemporal().then(
        () => true,
        () => false,
      );
      const notChecked = [...(open === undefined ? ['store'] : []), ...(temporal ? [] : ['temporal'])];
      const at = new Date(clock.nowMs()).toISOString();
      const status = notChecked.length === 0 ? 'ok' : 'could_not_check';
      const body = JSON.stringify({ type: 'heartbeat', status, at, notChecked, openMatters: open ?? null });
      const headers = { 'content-type': 'application/json', 'user-agent': 'towline' };
      // Where it does not arrive, whoever waits for it calls.
      await postTo(status === 'ok' ? heartbeatUrl : failUrl(heartbeatUrl), headers, body);
    },
  };
}

/** As the usual services for this take a failure. Others do not know the path, and count no sign of life. */
function failUrl(text: string): string {
  const url = new URL(text);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/fail`;
  return url.href;
}
