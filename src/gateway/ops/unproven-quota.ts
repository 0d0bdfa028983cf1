import type { Logger } from 'pino';
import { type Clock, createRounds, type Rounds, systemClock } from '../../clock.js';
import { ROW_BYTES, type UnprovenInbox } from '../../store/inbox.js';
import { LEAVING_ROOM } from '../http/places.js';
import { errorForLog, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';

/** The disk space that events without proof may use: beyond it the oldest are deleted, those without a flow first. */
export interface UnprovenQuota extends Pick<Rounds, 'start' | 'stop'> {
  /**
   * @param isKnown unknown clients together get three quarters of it
   * @throws Refusal 429 if it is full of events that are on their way to flows
   */
  take(bytes: number, isKnown: boolean): void;
  /** Bytes that they use, as far as this gateway knows. */
  bytes(): number;
}

const LOOK_EVERY_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** A flow that starts later still gets them. */
const OF_NO_FLOW_KEPT_MS = DAY_MS;
/** What a flow was shown is in its history; a person may read the row as long as a flow may stay parked unnoticed. */
const OF_A_FLOW_KEPT_MS = 30 * DAY_MS;
const DROPPED_AT_ONCE = 500;
/** If the share of unknown clients is full, a check makes room down to this part of it. */
const LEFT_FULL = 0.9;

/** Each gateway counts what it stores between two checks; it learns at the next check what others stored. */
export function createUnprovenQuota(deps: {
  readonly inbox: UnprovenInbox;
  readonly mostBytes: number;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly clock?: Clock;
}): UnprovenQuota {
  const { inbox, mostBytes, logger, nowMs, clock = systemClock } = deps;
  const mostOfUnknown = mostBytes * LEAVING_ROOM;
  let bytes = 0;

  async function drop(keptMs: number, ofNoFlow: boolean, isEnough: () => Promise<boolean>): Promise<number> {
    const before = new Date(nowMs() - keptMs);
    let dropped = 0;
    while (!(await isEnough())) {
      const now = await inbox.dropUnproven({ before, ofNoFlow, atMost: DROPPED_AT_ONCE });
      dropped += now;
      if (now === 0) break;
    }
    return dropped;
  }

  async function tidy(): Promise<void> {
    const never = () => Promise.resolve(false);
    const hasRoom = async () => (await inbox.unprovenBytes()) <= mostOfUnknown * LEFT_FULL;
    let dropped = (await drop(OF_NO_FLOW_KEPT_MS, true, never)) + (await drop(OF_A_FLOW_KEPT_MS, false, never));
    if ((await inbox.unprovenBytes()) >= mostOfUnknown) {
      // Including what came in this very millisecond.
      dropped += await drop(-1, true, hasRoom);
      dropped += await drop(-1, false, hasRoom);
    }
    bytes = await inbox.unprovenBytes();
    if (dropped > 0) logger.info({ dropped, bytes }, 'events without proof were deleted');
  }

  const rounds = createRounds(clock, LOOK_EVERY_MS, () =>
    tidy().catch((error: unknown) => {
      logger.warn({ error: errorForLog(error) }, 'events without proof could not be deleted; trying again');
    }),
  );

  return {
    take(bodyBytes, isKnown) {
      if (bytes >= (isKnown ? mostBytes : mostOfUnknown)) {
        void rounds.now();
        throw new Refusal(429, 'Too many events without proof are stored. Try again later.', {}, RETRY_AFTER_SECONDS);
      }
      bytes += bodyBytes + ROW_BYTES;
    },
    bytes: () => bytes,
    start: () => rounds.start(),
    stop: () => rounds.stop(),
  };
}
