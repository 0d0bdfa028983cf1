import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { KeyValue } from '../database.js';
import type { Chance } from '../random.js';
import type { LiveSettings } from '../settings.js';
import type { Manner, Message, Stream } from './message.js';

/** One copy of a message that is to be delivered. */
export interface Copy {
  /** `genuine`, or what the adversary did to it. */
  readonly note: string;
  readonly body: string;
  readonly url: string;
  readonly manner: Manner;
  readonly delayMs: number;
  /** True: under an id of its own, as from a sender that forgot what it had sent. */
  readonly newId: boolean;
  /** Null: attempts continue until the settings say to give up. */
  readonly maxTries: number | null;
  /** What gets lost in transit. */
  readonly lost: 'nothing' | 'first-attempt' | 'everything';
}

export interface Adversary {
  /** The copies of a message: the genuine one first, then what is added to it. */
  copies(message: Message): readonly Copy[];
  /** Whether the first callback of this reference comes before the answer to its POST. */
  isEarly(reference: string): boolean;
  current(): Readonly<Partial<Record<Stream, Mischief>>>;
  /** Inside `database.write`; kept until a reset. */
  set(streams: readonly Stream[], mischief: Mischief): void;
}

type Addition = (message: Message, chance: number, mischief: Mischief) => Partial<Copy>;

/** Kinds of additional copies, and how they differ from the genuine one. */
const ADDITIONS: Readonly<Record<'duplicate' | 'tampered' | 'forged', Addition>> = {
  duplicate: (_, chance) => ({ newId: chance >= 0.5 }),
  tampered: ({ body }, chance) => ({ body: tamper(body, chance), maxTries: 1 }),
  forged: ({ stream, body, url }, chance, { forgerKnowsUrl = false }) => ({
    body: lie(body),
    // The settlement path is public; only the service knows the URL of a callback.
    url: stream === 'settlement' || forgerKnowsUrl ? url : guessedUrl(url),
    manner: chance < 0.5 ? 'forged' : 'bare',
    newId: true,
    maxTries: 1,
  }),
};

const KINDS = ['duplicate', 'tampered', 'forged'] as const;
const DEFAULT_DELAY_MS = 5_000;

export function createAdversary(deps: { notes: KeyValue; chance: Chance; settings: LiveSettings }): Adversary {
  const { notes, chance, settings } = deps;
  const current: Adversary['current'] = () => notes.read('adversary', {});

  /** What happens to the genuine copy in transit. Each kind of trouble is drawn independently. */
  function trouble({ stream, reference, status, event }: Message, mischief: Mischief): Pick<Copy, 'delayMs' | 'lost'> {
    const words = event === '' ? [stream, reference, status] : [stream, reference, status, event];
    const hits = (kind: 'reorder' | 'delay' | 'dropFirst' | 'drop') => chance(kind, ...words) < (mischief[kind] ?? 0);
    const isMuted = chance('mute', stream, reference) < (mischief.mute ?? 0);
    const { stepMs } = settings.current();
    const overtaken = hits('reorder') ? Math.ceil(stepMs * (1.5 + 2 * chance('reorder by', ...words))) : 0;
    const delayed = hits('delay') ? (mischief.delayMs ?? DEFAULT_DELAY_MS) : 0;
    const lost = isMuted || hits('drop') ? 'everything' : hits('dropFirst') ? 'first-attempt' : 'nothing';
    return { delayMs: overtaken + delayed, lost };
  }

  return {
    current,
    set(streams, mischief) {
      notes.write('adversary', { ...current(), ...Object.fromEntries(streams.map((stream) => [stream, mischief])) });
    },
    copies(message) {
      const { stream, reference, status, body, url } = message;
      const genuine: Copy = {
        note: 'genuine',
        body,
        url,
        manner: 'plain',
        delayMs: 0,
        newId: false,
        maxTries: null,
        lost: 'nothing',
      };
      const mischief = current()[stream];
      if (mischief === undefined) return [genuine];
      const copies = [{ ...genuine, ...trouble(message, mischief) }];
      for (const kind of KINDS) {
        const wanted = mischief[kind] ?? 0;
        const count = wanted < 1 ? Number(chance(kind, stream, reference, status) < wanted) : Math.floor(wanted);
        for (let nth = 0; nth < count; nth += 1) {
          const drawn = chance(`${kind} copy`, stream, reference, status, nth);
          copies.push({ ...genuine, note: kind, ...ADDITIONS[kind](message, drawn, mischief) });
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

/** Below 1 a probability, from 1 on a number of copies for each message. */
const HowMany = z.number().min(0).max(1_000);
const Rate = z.number().min(0).max(1);

/** Effects on one stream. */
export const Mischief = z.strictObject({
  /** The same content once more, half of the time under the same webhook id, else under a new one. */
  duplicate: HowMany.optional(),
  /** Another amount or status under the genuine signature, in addition to the genuine message; tried once. */
  tampered: HowMany.optional(),
  /**
   * A false message of a sender who knows every fact but no secret: unsigned, or signed with a wrong one; tried once.
   */
  forged: HowMany.optional(),
  /** Callbacks and webhooks: true if the forger even knows the URL; else it must guess the last part of the path. */
  forgerKnowsUrl: z.boolean().optional(),
  /** Callbacks only: the first one arrives before the POST is answered. True, or a probability. */
  early: z.union([z.boolean(), Rate]).optional(),
  /** Late enough, by the sandbox's clock, that later ones come first: one and a half to three and a half steps. */
  reorder: Rate.optional(),
  /** Late by `delayMs`. */
  delay: Rate.optional(),
  /** @default 5000 */
  delayMs: z.number().int().min(0).optional(),
  /** The first attempt gets lost; the next ones come through. */
  dropFirst: Rate.optional(),
  /** Every attempt gets lost. */
  drop: Rate.optional(),
  /** Every message of a reference gets lost, or none. */
  mute: Rate.optional(),
});
export type Mischief = z.infer<typeof Mischief>;

/** The change that an attacker with a genuine message would make: how it ended, or the amount. Pure. */
export function tamper(body: string, chance: number): string {
  const message = JSON.parse(body) as Members;
  const facts = factsOf(message);
  const amounts = isMembers(facts.settlement_details) ? facts.settlement_details : facts;
  const amount = ['amount', 'fiatAmount', 'cryptoAmount'].find((member) => isNumber(amounts[member]));
  if (chance < 0.5 && amount !== undefined) amounts[amount] = tenfold(amounts[amount] as number | string);
  else facts.status = otherEnding(facts);
  return JSON.stringify(message);
}

/** The message of a sender who knows every fact: the same message with a false ending. Pure. */
export function lie(body: string): string {
  const message = JSON.parse(body) as Members;
  const facts = factsOf(message);
  facts.status = otherEnding(facts);
  return JSON.stringify(message);
}

/** The URL with a guessed last part: as long, and wrong. Pure. */
export function guessedUrl(url: string): string {
  const guessed = new URL(url);
  const parts = guessed.pathname.split('/');
  const last = parts.at(-1) ?? '';
  const guess = createHash('sha256').update(last).digest('hex').repeat(4);
  guessed.pathname = [...parts.slice(0, -1), guess.slice(0, Math.max(1, last.length))].join('/');
  return guessed.href;
}

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
const factsOf = (message: Members): Members => (isMembers(message.data) ? message.data : message);
const isNumber = (value: unknown) => typeof value === 'number' || (typeof value === 'string' && Number(value) > 0);
const tenfold = (value: number | string) => (typeof value === 'number' ? value * 10 : `${Number(value) * 10}`);

/** Only the bridge uses COMPLETED. */
function otherEnding(facts: Members): string {
  const success = 'kotani_reference_id' in facts ? 'COMPLETED' : 'SUCCESSFUL';
  return ['COMPLETED', 'SUCCESSFUL', 'SUCCESS'].includes(String(facts.status)) ? 'FAILED' : success;
}
