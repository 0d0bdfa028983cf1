import type { Logger } from 'pino';
import { createRounds, type Rounds, systemClock } from '../../clock.js';
import type { Settings } from '../../config/settings-shape.js';
import type { Duty } from '../../store/duties.js';
import type { Store } from '../../store/store.js';
import { errorForLog } from '../http/refusal.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Resolved matters hold no personal data. */
const MATTERS_KEPT_MS = 90 * DAY_MS;

/** Longer than the interval between two checks: if a gateway dies, another one takes over in the third hour. */
export const RETENTION_DUTY_MS = 2 * HOUR_MS;

/** Hourly clears what is older than the settings say, by one gateway at a time. Hashes and claims stay. */
export function createRetention(deps: {
  readonly inbox: Pick<Store['inbox'], 'purgeBodies'>;
  readonly claims: Pick<Store['claims'], 'purgeAnswers'>;
  readonly matters: Pick<Store['matters'], 'purge'>;
  readonly keptMs: Pick<Settings, 'eventBodiesKeptMs' | 'answersKeptMs'>;
  readonly duty: Pick<Duty, 'isOurs'>;
  readonly nowMs: () => number;
  readonly logger: Logger;
}): Rounds {
  const { inbox, claims, matters, nowMs, logger } = deps;
  const { eventBodiesKeptMs, answersKeptMs } = deps.keptMs;

  const purge = async (): Promise<void> => {
    try {
      if (!(await deps.duty.isOurs())) return;
      const ago = (ms: number) => new Date(nowMs() - ms);
      await matters.purge(ago(MATTERS_KEPT_MS));
      const purged = await inbox.purgeBodies(ago(eventBodiesKeptMs));
      if (purged > 0) logger.info({ purged }, 'the bodies of old events were cleared');
      const answers = answersKeptMs === undefined ? 0 : await claims.purgeAnswers(ago(answersKeptMs));
      if (answers > 0) logger.info({ purged: answers }, 'old answers of the service were cleared');
    } catch (error) {
      logger.warn(
        { error: errorForLog(error) },
        'old events and answers could not be cleared; trying again in an hour',
      );
    }
  };

  return createRounds(systemClock, HOUR_MS, purge);
}
