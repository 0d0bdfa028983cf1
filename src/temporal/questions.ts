/** Who asks a worker. */
export interface Asker {
  /** Of the caller, or of the part of Towline that asks by itself. */
  readonly name: string;
  /** An order waits for the answer, or an event does. @default false: a reader */
  readonly isOrder?: boolean;
}

/** Towline itself, which delivers events. */
export const TOWLINE: Asker = { name: 'towline', isOrder: true };

/**
 * Asks a worker, if the turn of the question comes within that time. Undefined if no worker answers.
 * @throws TooManyQuestionsError if its turn does not come
 */
export type AskWorker = <T>(asker: Asker, withinMs: number, ask: () => Promise<T>) => Promise<T | undefined>;

/** A question may cost a worker a replay, in the slots of flows that move money. */
const AT_ONCE = 16;
/** Of those: the rest is kept for orders. */
const OF_READERS = 12;
/** Of one name, for its orders and for all else: a worker that does not answer holds each for seconds. */
const OF_ONE_NAME = 4;
const MOST_WAITING_OF_ONE_NAME = 256;

/** No worker was asked: too many other questions wait for their answers. */
export class TooManyQuestionsError extends Error {
  override readonly name = 'TooManyQuestionsError';
  /** They are the asker's own. */
  readonly isOwn: boolean;

  constructor(name: string, isOwn: boolean) {
    super(
      isOwn
        ? `${name} has too many questions to workers open: at most ${OF_ONE_NAME} at a time`
        : `All places for questions to workers are taken: ${OF_READERS} for readers, ${AT_ONCE} in all`,
    );
    this.isOwn = isOwn;
  }
}

interface Waiting {
  readonly key: string;
  readonly isOrder: boolean;
  readonly begin: () => void;
}

/** For all callers together: each name has its places, and no reader takes those that are kept for orders. */
export function limitQuestions(): AskWorker {
  const open = new Map<string, number>();
  /** The longest waiting first. */
  const waiting = new Set<Waiting>();
  let all = 0;
  let ofReaders = 0;

  const hasPlace = (key: string): boolean => (open.get(key) ?? 0) < OF_ONE_NAME;
  const fits = ({ key, isOrder }: Waiting): boolean =>
    all < AT_ONCE && (isOrder || ofReaders < OF_READERS) && hasPlace(key);
  const add = ({ key, isOrder }: Waiting, change: 1 | -1): void => {
    all += change;
    if (!isOrder) ofReaders += change;
    const now = (open.get(key) ?? 0) + change;
    if (now > 0) open.set(key, now);
    else open.delete(key);
  };
  const beginAll = (): void => {
    for (const one of waiting) {
      if (all >= AT_ONCE) return;
      if (!fits(one)) continue;
      waiting.delete(one);
      add(one, 1);
      one.begin();
    }
  };

  return async ({ name, isOrder = false }, withinMs, ask) => {
    const key = `${isOrder ? 'order' : 'read'} ${name}`;
    const place = await new Promise<Waiting>((resolve, reject) => {
      const one: Waiting = { key, isOrder, begin: () => (clearTimeout(timer), resolve(one)) };
      const giveUp = () => {
        waiting.delete(one);
        reject(new TooManyQuestionsError(name, !hasPlace(key)));
      };
      const timer = setTimeout(giveUp, withinMs);
      const ofThisName = [...waiting].filter((other) => other.key === key).length;
      if (ofThisName >= MOST_WAITING_OF_ONE_NAME) return (clearTimeout(timer), giveUp());
      waiting.add(one);
      beginAll();
    });
    try {
      return await ask();
    } catch {
      return undefined;
    } finally {
      add(place, -1);
      beginAll();
    }
  };
}
