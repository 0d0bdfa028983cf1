import type { Logger } from 'pino';
import type { Card } from '../../contract/deposit.js';
import { errorForLog } from '../http/error-for-log.js';
import { Refusal } from '../http/refusal.js';
import { createCardVault, type CardVault, type KeptCard } from './card-vault.js';

/** Works on a card's task queue until it is shut down: a worker for the one activity that sends a card. */
export interface CardWorker {
  readonly ended: Promise<void>;
  shutdown(): Promise<void>;
}

/** Starts that worker; passed in, since the gateway itself knows neither activities nor the service. */
export type ServeCards = (cards: Pick<CardVault, 'queue' | 'take' | 'putBack' | 'forget'>) => Promise<CardWorker>;

/** Where cards are taken in: they are kept for a minute, and a worker of this very process sends them. */
export interface CardDesk {
  /** @throws Refusal 503 where this gateway cannot take cards now */
  keep(card: Card): KeptCard;
  forget(token: string): void;
  close(): Promise<void>;
}

export interface CardDeskOptions {
  readonly serve: ServeCards | undefined;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly lifeMs?: number;
}

const RETRY_AFTER_SECONDS = 5;
const PAUSE_MS = 1_000;
const CLOSE_WITHIN_MS = 1_500;

/** The worker starts with the first card: a gateway that sees none has none. */
export function createCardDesk({ serve, logger, nowMs, lifeMs }: CardDeskOptions): CardDesk {
  const vault = createCardVault({ nowMs, ...(lifeMs === undefined ? {} : { lifeMs }) });
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
    keep(card) {
      if (serve === undefined) throw new Refusal(503, 'This gateway takes no cards.');
      const kept = closing.signal.aborted ? undefined : vault.keep(card);
      if (kept === undefined) {
        throw new Refusal(503, 'The gateway cannot take a card now. Send it again.', {}, RETRY_AFTER_SECONDS);
      }
      serving ??= run(serve).finally(() => {
        serving = undefined;
      });
      return kept;
    },
    forget: (token) => vault.forget(token),
    async close() {
      closing.abort();
      // What is being sent is finished; what was not taken yet is dropped, and nothing was charged.
      await worker?.shutdown().catch(() => undefined);
      vault.clear();
      // A start that hangs, because Temporal is away, has nothing to do any more.
      await Promise.race([serving, new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref())]);
    },
  };
}
