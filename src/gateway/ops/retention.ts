import type { Logger } from 'pino';
import type { InboxStore } from '../../store/inbox.js';
import type { MatterStore } from '../../store/matters.js';
import type { Duty } from '../../store/duties.js';
import { errorForLog } from '../http/refusal.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Personal data in an event is of no use after that; its hash still identifies its content. */
const BODIES_KEPT_MS = 90 * DAY_MS;

export interface Retention {
  /** At once, and hourly from then on. */
  start(): void;
  /** Resolves when nothing is in flight any more. */
  stop(): Promise<void>;
}

/** Longer than the interval between two checks: if a gateway dies, another one takes over in the third hour. */
export const RETENTION_DUTY_MS = 2 * HOUR_MS;

/** Clears the bodies of old events, by one gateway at a time. */
export function createRetention(deps: {
  readonly inbox: Pick<InboxStore, 'purgeBodies'>;
  readonly matters: Pick<MatterStore, 'purge'>;
  readonly duty: Pick<Duty, 'isOurs'>;
  readonly nowMs: () => number;
  readonly logger: Logger;
}): Retention {
  const { inbox, matters, nowMs, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const purge = async (): Promise<void> => {
    try {
      if (!(await deps.duty.isOurs())) return;
      const before = new Date(nowMs() - BODIES_KEPT_MS);
      await matters.purge(before);
      const purged = await inbox.purgeBodies(before);
      if (purged > 0) logger.info({ purged }, 'the bodies of old events were cleared');
    } catch (error) {
      logger.warn(
        { error: errorForLog(error) },
        'the bodies of old events could not be cleared; trying again in an hour',
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
      timer = setInterval(tick, HOUR_MS);
      tick();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
