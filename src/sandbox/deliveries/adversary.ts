import type { Message } from './message.js';

/** One copy of a message that is to be delivered. */
export interface Copy {
  readonly note: string;
  readonly body: string;
  readonly delayMs: number;
  /** True: delivered under an id of its own, as a sender does that forgot what it sent. */
  readonly newId: boolean;
  readonly maxTries: number | null;
}

export interface Adversary {
  /** What becomes of a message: always the genuine copy first, then what is added to it. */
  copies(message: Message): readonly Copy[];
  /** Whether the first callback of this reference is to come before the answer to its POST. */
  isEarly(reference: string): boolean;
}

export const genuine = (message: Message): Copy => ({
  note: 'genuine',
  body: message.body,
  delayMs: 0,
  newId: false,
  maxTries: null,
});

export const noAdversary: Adversary = { copies: (message) => [genuine(message)], isEarly: () => false };
