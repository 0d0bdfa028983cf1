import { systemClock, type Clock } from '../clock.js';
import { postTo } from './send.js';

export interface HeartbeatDeps {
  /** `HEARTBEAT_URL`, at this moment. Undefined: none is sent. */
  readonly heartbeatUrl: () => string | undefined;
  /** Rejects if Temporal does not answer. */
  readonly askTemporal: () => Promise<unknown>;
  readonly clock: Clock;
}

const EVERY_MS = 60_000;

/**
 * The heartbeat shows that people would be notified of a problem: if it stops, they would not be. It is sent once a
 * minute by the process that sends notifications, and only after everything could be checked; a failed check goes to
 * `…/fail`.
 */
export function createHeartbeat({
  heartbeatUrl: urlNow = () => undefined,
  askTemporal = () => Promise.resolve(),
  countOpen,
  clock = systemClock,
}: Partial<HeartbeatDeps> & { readonly countOpen: () => Promise<number> }) {
  let lastMs = -Infinity;
  return {
    async beat(isOurs: boolean, away?: 'store'): Promise<void> {
      const heartbeatUrl = urlNow();
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
      // If it does not arrive, the service that expects it alerts people.
      await postTo(status === 'ok' ? heartbeatUrl : failUrl(heartbeatUrl), headers, body);
    },
  };
}

/** The usual services accept a failure at this path. Others do not know the path, and count no heartbeat. */
function failUrl(text: string): string {
  const url = new URL(text);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/fail`;
  return url.href;
}
