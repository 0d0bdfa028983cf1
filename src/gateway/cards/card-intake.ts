import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Card } from '../../contract/deposit.js';
import { cardQueueOf, cardTokenOf } from '../../flows/capability.js';
import { CARD_LIFE_MS } from '../../protocol/task-queues.js';
import { createPlaces } from '../http/places.js';
import { errorForLog, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';

/** Serves a card's task queue until it is shut down: a worker for the one activity that sends a card. */
interface CardWorker {
  readonly ended: Promise<void>;
  shutdown(): Promise<void>;
}

/** Starts that worker; passed in, since the gateway itself knows neither activities nor the service. */
export type ServeCards = (cards: Pick<CardVault, 'queue' | 'take' | 'putBack' | 'forget'>) => Promise<CardWorker>;

/** Takes cards in: they are kept for a minute, and a worker in this process sends them. */
export interface CardIntake {
  /**
   * @param owner name of the token that sent the card
   * @throws Refusal 503 if this gateway cannot take cards now, 429 if this token has used up its share
   */
  keep(card: Card, owner: string): KeptCard;
  forget(token: string): void;
  /**
   * Takes cards until the requests in flight were served, but no longer than ten seconds; finishes what is being sent.
   *
   * @param served resolves when no request is in flight any more
   */
  close(served: Promise<void>): Promise<void>;
}

export interface CardIntakeOptions {
  readonly serve: ServeCards | undefined;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const PAUSE_MS = 1_000;
const CLOSE_WITHIN_MS = 1_500;
/** A POST that begins later may not end before its process is ended. */
const TAKEN_MS = 10_000;

/** The worker starts with the first card: a gateway without cards has none. */
export function createCardIntake({ serve, logger, nowMs }: CardIntakeOptions): CardIntake {
  const vault = createCardVault({ nowMs });
  let serving: Promise<void> | undefined;
  let worker: CardWorker | undefined;
  const closing = new AbortController();

  /** Until it ends or cannot be started any more; tried again for as long as a card waits. */
  async function run(start: ServeCards): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        worker = await start(vault);
        if (closing.signal.aborted) await worker.shutdown();
        await worker.ended;
      } catch (error) {
        logger.warn({ error: errorForLog(error) }, 'no worker for cards');
      }
      worker = undefined;
      if (vault.isEmpty()) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  return {
    keep(card, owner) {
      if (serve === undefined) throw new Refusal(503, 'This gateway takes no cards.');
      if (closing.signal.aborted) {
        throw new Refusal(503, 'The gateway cannot take a card now. Send it again.', {}, RETRY_AFTER_SECONDS);
      }
      const kept = vault.keep(card, owner);
      serving ??= run(serve).finally(() => {
        serving = undefined;
      });
      return kept;
    },
    forget: (token) => vault.forget(token),
    async close(served) {
      await Promise.race([served, new Promise((resolve) => setTimeout(resolve, TAKEN_MS).unref())]);
      closing.abort();
      // A card that is being sent is finished; a card that was not taken yet is dropped, and nothing was charged.
      await worker?.shutdown().catch(() => undefined);
      vault.clear();
      // A start that hangs, because Temporal is down, has no work any more.
      await Promise.race([serving, new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref())]);
    },
  };
}

/** What a caller gets in place of a card. */
interface KeptCard {
  readonly cardToken: string;
  readonly masked: string;
  readonly expiresAt: string;
}

/** Cards in this process's memory: each for a minute, behind a one-time token. Never written anywhere. */
export interface CardVault {
  /** On which only this process works. */
  readonly queue: string;
  /**
   * @param owner who may fill a quarter of it
   * @throws Refusal 429 if this owner has done so, 503 if it is full
   */
  keep(card: Card, owner: string): KeptCard;
  /** To one taker at a time. */
  take(token: string): Card | undefined;
  putBack(token: string): void;
  forget(token: string): void;
  isEmpty(): boolean;
  clear(): void;
}

/** One token cannot fill it. */
const SHARE_OF_AN_OWNER = 4;

export interface CardVaultOptions {
  readonly nowMs: () => number;
  /** @default 60,000 */
  readonly lifeMs?: number;
  /** How many cards at a time; far more than a gateway sees in a minute. @default 10,000 */
  readonly most?: number;
  /** Runs work later, and returns a function that cancels it. @default a timer that keeps no process alive */
  readonly after?: (ms: number, work: () => void) => () => void;
}

export function createCardVault(options: CardVaultOptions): CardVault {
  const { nowMs, lifeMs = CARD_LIFE_MS, most = 10_000, after = unrefTimer } = options;
  const queue = cardQueueOf(randomBytes(24));
  const cards = new Map<string, { card: Card; taken: boolean; stopTimer: () => void; free: () => void }>();
  const shares = createPlaces({ what: 'cards', most });

  function forget(token: string): void {
    const kept = cards.get(token);
    if (kept === undefined) return;
    kept.stopTimer();
    kept.free();
    cards.delete(token);
  }

  return {
    queue,
    keep(card, owner) {
      const { free } = shares.take({ [owner]: Math.ceil(most / SHARE_OF_AN_OWNER) });
      const cardToken = cardTokenOf(queue, randomBytes(32));
      // A timer ends the minute: a clock that is set back must not prolong it.
      const stopTimer = after(lifeMs, () => forget(cardToken));
      cards.set(cardToken, { card, free, taken: false, stopTimer });
      return { cardToken, masked: maskedNumber(card.number), expiresAt: new Date(nowMs() + lifeMs).toISOString() };
    },
    take(token) {
      const kept = cards.get(token);
      if (kept === undefined || kept.taken) return undefined;
      kept.taken = true;
      return kept.card;
    },
    putBack(token) {
      const kept = cards.get(token);
      if (kept !== undefined) kept.taken = false;
    },
    forget,
    isEmpty: () => cards.size === 0,
    clear: () => [...cards.keys()].forEach(forget),
  };
}

function unrefTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
}

/** First six and last four digits, which may be shown. */
function maskedNumber(digits: string): string {
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4);
}
