import { randomBytes } from 'node:crypto';
import type { Card } from '../../contract/deposit.js';
import { cardQueueOf, cardTokenOf } from '../../flows/card-token.js';
import { maskedNumber } from './card-schema.js';

/** What a caller gets in the place of a card. */
export interface KeptCard {
  readonly cardToken: string;
  readonly masked: string;
  readonly expiresAt: string;
}

/** Cards in this process's memory: each for a minute, behind a token that is used once. Never written anywhere. */
export interface CardVault {
  /** On which only this process works. */
  readonly queue: string;
  /** Undefined where it is full. */
  keep(card: Card): KeptCard | undefined;
  /** To one taker at a time. */
  take(token: string): Card | undefined;
  putBack(token: string): void;
  forget(token: string): void;
  isEmpty(): boolean;
  clear(): void;
}

export interface CardVaultOptions {
  readonly nowMs: () => number;
  /** @default 60,000 */
  readonly lifeMs?: number;
  /** How many cards at a time; far more than a gateway sees in a minute. @default 10,000 */
  readonly most?: number;
  /** Runs what is to happen later, and gives what stops it. @default a timer that keeps no process alive */
  readonly after?: (ms: number, work: () => void) => () => void;
}

export function createCardVault(options: CardVaultOptions): CardVault {
  const { nowMs, lifeMs = 60_000, most = 10_000, after = unrefTimer } = options;
  const queue = cardQueueOf(randomBytes(24));
  const cards = new Map<string, { card: Card; taken: boolean; stopTimer: () => void }>();

  function forget(token: string): void {
    cards.get(token)?.stopTimer();
    cards.delete(token);
  }

  return {
    queue,
    keep(card) {
      if (cards.size >= most) return undefined;
      const cardToken = cardTokenOf(queue, randomBytes(32));
      // The timer is what ends its minute: a clock that is set back must not prolong it.
      const stopTimer = after(lifeMs, () => forget(cardToken));
      cards.set(cardToken, { card, taken: false, stopTimer });
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
