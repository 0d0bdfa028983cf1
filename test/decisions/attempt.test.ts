import { describe, expect, it } from '@jest/globals';
import {
  begun,
  DOES,
  guardsAgainstUntrusted,
  marksAtOnce,
  nextOf,
  POST_SAYS,
  repeatOf,
  RESERVE_FINDS,
  type Attempt,
  type Does,
  type Heard,
  type Terms,
} from '../../src/protocol/attempt.js';
import { LOOKUP_SAYS, PAID_SAYS, SENT_BEFORE } from '../../src/protocol/decisions.js';

const TERMS: Terms = {
  lookUp: true,
  byOthersToo: false,
  skipLookup: false,
  takesDebt: false,
  sendable: true,
  guardsUntrusted: false,
};
const NAMES = Object.keys(TERMS) as readonly (keyof Terms)[];
/** Every combination of terms. */
const EVERY_TERMS: readonly Terms[] = Array.from(
  { length: 2 ** NAMES.length },
  (_, bits) => Object.fromEntries(NAMES.map((name, index) => [name, (bits & (2 ** index)) !== 0])) as unknown as Terms,
);

const WRITES: readonly Heard[] = [true, false].map((isDone) => ({ of: 'write', isDone }));
const LOOKUPS: readonly Heard[] = LOOKUP_SAYS.map((says) => ({ of: 'lookup', says }));
/** Everything that a step may bring. */
const BRINGS: Readonly<Record<Does, readonly Heard[]>> = {
  'read-claim': [true, false].map((isThere) => ({ of: 'claim', isThere })),
  reserve: RESERVE_FINDS.flatMap((finds) =>
    (finds === 'reserved' ? SENT_BEFORE : (['nothing'] as const)).map(
      (before) => ({ of: 'reserve', finds, before }) as const,
    ),
  ),
  'look-before': LOOKUPS,
  'look-first': PAID_SAYS.map((says) => ({ of: 'paid', says })),
  'check-quote': [true, false].map((isOver) => ({ of: 'quote', isOver })),
  'take-debt': [true, false].map((isOurs) => ({ of: 'debt', isOurs })),
  mark: (['sending', 'fenced', 'contradicted', 'unmatched'] as const).map((finds) => ({ of: 'mark', finds })),
  post: POST_SAYS.map((says) => ({ of: 'post', says })),
  'note-refusal': WRITES,
  'look-after': LOOKUPS,
  release: WRITES,
  'turn-away': WRITES,
  record: WRITES,
  reject: WRITES,
  'hold-back': WRITES,
  report: [],
  'try-later': [],
  'refuse-request': [],
};

interface Path {
  readonly terms: Terms;
  readonly heard: readonly Heard[];
  readonly steps: readonly Does[];
  readonly last: Attempt;
}

/** Every attempt from its begin to its end. */
function everyPath(): readonly Path[] {
  const ended: Path[] = [];
  const go = (path: Path): void => {
    const brought = BRINGS[path.last.does];
    if (brought.length === 0) ended.push(path);
    for (const heard of brought) {
      // Only what needs nothing else is marked with its reservation.
      if (heard.of === 'reserve' && heard.finds === 'may-send' && !marksAtOnce(path.terms)) continue;
      const last = nextOf(path.terms, path.last, heard);
      go({ ...path, heard: [...path.heard, heard], steps: [...path.steps, last.does], last });
    }
  };
  for (const terms of EVERY_TERMS) {
    const last = begun(terms);
    go({ terms, heard: [], steps: [last.does], last });
  }
  return ended;
}

const PATHS = everyPath();

describe('an attempt to send', () => {
  it('ends by every path that its steps can take, and takes every step', () => {
    expect(PATHS.length).toBeGreaterThan(1_000);
    expect(Math.max(...PATHS.map(({ steps }) => steps.length))).toBeLessThan(20);
    const taken = new Set(PATHS.flatMap(({ steps }) => steps));
    expect(DOES.filter((does) => !taken.has(does))).toEqual([]);
  });

  /** The stories of the paths that are not as they should be: none. */
  const wrong = (isWrong: (path: Path) => boolean, of: (path: Path) => boolean = () => true) => {
    const looked = PATHS.filter(of);
    expect(looked.length).toBeGreaterThan(0);
    return looked.filter(isWrong).map(({ terms, steps, heard }) => ({ terms, steps, heard }));
  };
  const saysOf = (heard: Heard | undefined) => (heard as { readonly says?: string } | undefined)?.says;
  const looksOf = (heard: readonly Heard[]) => heard.filter(({ of }) => of === 'lookup').map(saysOf);
  const hears = ({ heard }: Path, ...says: readonly string[]) =>
    heard.some((each) => each.of === 'post' && says.includes(each.says));
  const isRefused = (path: Path) => hears(path, 'refused', 'refused-reference', 'rate-expired');
  const posts = ({ steps }: Path) => steps.includes('post');
  /** A lookup that may not know the record says nothing by its "not found", and may show it a moment later. */
  const isMiss =
    ({ lookUp }: Terms) =>
    (word: unknown) =>
      word === 'absent' || (lookUp && word === 'no-lookup');
  const isMissedThrice = (terms: Terms, says: readonly unknown[]) => says.length === 3 && says.every(isMiss(terms));

  it('sends at most once, only what can be sent, and right after its claim is marked', () => {
    const isWrong = ({ steps, heard, terms }: Path) => {
      const at = steps.indexOf('post');
      const before = heard[at - 1];
      const isMarked = (before?.of === 'reserve' || before?.of === 'mark') && /may-send|sending/.test(before.finds);
      return steps.lastIndexOf('post') !== at || !terms.sendable || !isMarked;
    };
    expect(wrong(isWrong, posts)).toEqual([]);
  });

  it('looks up every repeat before it is sent, and what was turned away three times if the lookup shows nothing', () => {
    const isWrong = ({ terms, steps, heard, last }: Path) => {
      const looked = looksOf(heard.slice(0, steps.indexOf('post')));
      if (last.before === 'unknown') return looked.length !== 1;
      return isMiss(terms)(looked.at(-1)) ? !isMissedThrice(terms, looked) : looked.length === 0;
    };
    expect(wrong(isWrong, (path) => posts(path) && path.last.before !== 'nothing')).toEqual([]);
  });

  it('calls a refusal final after three misses, or where there is no lookup; never one of an ordered repeat, or about the reference', () => {
    const isWrong = (path: Path) => {
      if (path.last.before === 'unknown' || hears(path, 'refused-reference')) return true;
      const looked = looksOf(path.heard.slice(path.steps.indexOf('post')));
      const isWithout = !path.terms.lookUp || looked.at(-1) === 'no-lookup';
      if (path.terms.lookUp && !isMissedThrice(path.terms, looked)) return true;
      return isWithout && hears(path, 'rate-expired');
    };
    expect(wrong(isWrong, (path) => isRefused(path) && path.last.outcome === 'rejected')).toEqual([]);
  });

  it('hands a claim back only if nothing left, or if the service turned it away', () => {
    const isWrong = (path: Path) => {
      const isReleased = path.steps.includes('release');
      return isReleased ? !hears(path, 'not-sent', 'too-late', 'unsendable') : !hears(path, 'turned-away');
    };
    expect(wrong(isWrong, ({ steps }) => steps.includes('release') || steps.includes('turn-away'))).toEqual([]);
  });

  it('never hides what the service answered behind a write that fails', () => {
    const isWrong = ({ last }: Path) => last.does !== 'report' || last.outcome !== 'accepted';
    expect(wrong(isWrong, (path) => hears(path, 'accepted'))).toEqual([]);
  });

  it('leaves a refused POST that may have been executed to a person, except for a rate that expired without a lookup', () => {
    const isWrong = (path: Path) =>
      repeatOf(path.last, 'same-result') === 'same-result' &&
      (!hears(path, 'rate-expired') || looksOf(path.heard.slice(path.steps.indexOf('post'))).at(-1) === 'absent');
    expect(wrong(isWrong, (path) => isRefused(path) && path.last.outcome === 'unknown')).toEqual([]);
  });

  it('holds back what was turned away against an untrusted event, which a first send passes', () => {
    const attempt = { ...begun(TERMS), does: 'mark' } as const;
    const contradicted = { of: 'mark', finds: 'contradicted' } as const;
    expect(guardsAgainstUntrusted(TERMS, attempt)).toBe(false);
    expect(nextOf(TERMS, attempt, contradicted)).toMatchObject({ does: 'report', outcome: 'contradicted' });
    const again = { ...attempt, before: 'turned-away' } as const;
    expect(guardsAgainstUntrusted(TERMS, again)).toBe(true);
    expect(nextOf(TERMS, again, contradicted)).toMatchObject({
      does: 'hold-back',
      outcome: 'unknown',
      bySetting: false,
    });
  });

  it('has a next step for every answer, also for one that belongs to another step', () => {
    const every = Object.values(BRINGS).flat();
    for (const terms of [TERMS, { ...TERMS, lookUp: false }]) {
      for (const does of DOES) {
        for (const heard of every) {
          expect(DOES).toContain(nextOf(terms, { ...begun(terms), does }, heard).does);
        }
      }
    }
  });
});
