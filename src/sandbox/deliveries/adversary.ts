import type { Notes } from '../notes.js';
import type { Chance } from '../random.js';
import type { LiveSettings } from '../settings.js';
import type { Message, Stream } from './message.js';
import type { Mischief } from './mischief.js';
import type { Manner } from './signing.js';
import { guessedUrl, lie, tamper } from './tamper.js';

/** One copy of a message that is to be delivered. */
export interface Copy {
  /** `genuine`, or what the adversary made of it. */
  readonly note: string;
  readonly body: string;
  readonly url: string;
  readonly manner: Manner;
  readonly delayMs: number;
  /** True: under an id of its own, as from a sender that forgot what it had sent. */
  readonly newId: boolean;
  /** Null: tries go on until the settings say to give up. */
  readonly maxTries: number | null;
  /** What gets lost on the way. */
  readonly lost: 'nothing' | 'first-attempt' | 'everything';
}

export interface Adversary {
  /** What becomes of a message: the genuine copy first, then what is added to it. */
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
    // The settlement path is public; a callback's is known to the service alone.
    url: stream === 'settlement' || forgerKnowsUrl ? url : guessedUrl(url),
    manner: chance < 0.5 ? 'forged' : 'bare',
    newId: true,
    maxTries: 1,
  }),
};

const KINDS = ['duplicate', 'tampered', 'forged'] as const;
const DEFAULT_DELAY_MS = 5_000;

export function createAdversary(deps: { notes: Notes; chance: Chance; settings: LiveSettings }): Adversary {
  const { notes, chance, settings } = deps;
  const current: Adversary['current'] = () => notes.read('adversary', {});

  /** What happens to the genuine copy on its way. Each kind of trouble is drawn on its own. */
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
