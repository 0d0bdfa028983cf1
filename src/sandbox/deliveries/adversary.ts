import { z } from 'zod';
import type { Notes } from '../notes.js';
import type { Chance } from '../random.js';
import type { Message, Stream } from './message.js';
import { tamper } from './tamper.js';

/** One copy of a message that is to be delivered. */
export interface Copy {
  /** `genuine`, or what the adversary made of it. */
  readonly note: string;
  readonly body: string;
  readonly delayMs: number;
  /** True: under an id of its own, as from a sender that forgot what it had sent. */
  readonly newId: boolean;
  /** Null: tries go on until the settings say to give up. */
  readonly maxTries: number | null;
}

/** Below 1 a probability, from 1 on a number of copies for each message. */
const HowMany = z.number().min(0).max(1_000);

/** What is done to one stream. */
export const Mischief = z.strictObject({
  /** The same content once more, half of the time under the same webhook id, else under a new one. */
  duplicate: HowMany.optional(),
  /** Another amount or status under the genuine signature, besides the genuine message; tried once. */
  tampered: HowMany.optional(),
  /** Callbacks only: the first one arrives before the POST is answered. True, or a probability. */
  early: z.union([z.boolean(), z.number().min(0).max(1)]).optional(),
});
export type Mischief = z.infer<typeof Mischief>;

export interface Adversary {
  /** What becomes of a message: the genuine copy first, then what is added to it. */
  copies(message: Message): readonly Copy[];
  /** Whether the first callback of this reference comes before the answer to its POST. */
  isEarly(reference: string): boolean;
  current(): Readonly<Partial<Record<Stream, Mischief>>>;
  /** Inside `database.write`; kept until a reset. */
  set(streams: readonly Stream[], mischief: Mischief): void;
}

/** Kinds of additional copies. What else an adversary does (drop, reorder, delay) would be one more line here. */
const ADDITIONS: Readonly<Record<'duplicate' | 'tampered', (message: Message, chance: number) => Copy>> = {
  duplicate: ({ body }, chance) => ({ note: 'duplicate', body, delayMs: 0, newId: chance >= 0.5, maxTries: null }),
  tampered: ({ body }, chance) => ({
    note: 'tampered',
    body: tamper(body, chance),
    delayMs: 0,
    newId: false,
    maxTries: 1,
  }),
};

export function createAdversary(deps: { notes: Notes; chance: Chance }): Adversary {
  const { notes, chance } = deps;
  const current: Adversary['current'] = () => notes.read('adversary', {});

  return {
    current,
    set(streams, mischief) {
      notes.write('adversary', { ...current(), ...Object.fromEntries(streams.map((stream) => [stream, mischief])) });
    },
    copies(message) {
      const { stream, reference, status, body } = message;
      const copies: Copy[] = [{ note: 'genuine', body, delayMs: 0, newId: false, maxTries: null }];
      const mischief = current()[stream];
      if (mischief === undefined) return copies;
      for (const kind of ['duplicate', 'tampered'] as const) {
        const wanted = mischief[kind] ?? 0;
        const count = wanted < 1 ? Number(chance(kind, stream, reference, status) < wanted) : Math.floor(wanted);
        for (let nth = 0; nth < count; nth += 1) {
          copies.push(ADDITIONS[kind](message, chance(`${kind} copy`, stream, reference, status, nth)));
        }
      }
      return copies;
    },
    isEarly(reference) {
      const early = current().callback?.early ?? false;
      return typeof early === 'boolean' ? early : chance('early', reference) < early;
    },
  };
}
