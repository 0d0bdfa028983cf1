import type { Logger } from 'pino';
import type { InboxStore } from '../../store/inbox.js';
import { errorForLog } from '../http/refusal.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What is personal in an event is of no use to anybody after that; its content is still known by its hash. */
const BODIES_KEPT_MS = 90 * DAY_MS;

export interface Retention {
  /** At once, and daily from then on. */
  start(): void;
  /** Resolves when nothing is in flight any more. */
  stop(): Promise<void>;
}

/** Clears the bodies of old events. Several gateways that do so are none the worse for it. */
export function createRetention(deps: {
  readonly inbox: Pick<InboxStore, 'purgeBodies'>;
  readonly nowMs: () => number;
  readonly logger: Logger;
}): Retention {
  const { inbox, nowMs, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const purge = async (): Promise<void> => {
    try {
      const purged = await inbox.purgeBodies(new Date(nowMs() - BODIES_KEPT_MS));
      if (purged > 0) logger.info({ purged }, 'the bodies of old events were cleared');
    } catch (error) {
      logger.warn(
        { error: errorForLog(error) },
        'the bodies of old events could not be cleared; trying again tomorrow',
      );
    }
  };

  const tick = (): void => {
    running ??= purge().finally(() => {
      running = undefined;
    });
  };

  return {
    start() {
      timer = setInterval(tick, DAY_MS);
      tick();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
