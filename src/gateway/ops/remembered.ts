// Expensive answers that anyone may request at any rate: each is computed once for all callers.

const REMEMBERED_MS = 1_000;

/** One answer, or failure, for all who ask while it is computed, and for `forMs` after. @param forMs @default 1,000 */
export function remembered<T>(
  monotonicMs: () => number,
  ask: () => Promise<T>,
  forMs: number = REMEMBERED_MS,
): () => Promise<T> {
  let last: { readonly found: Promise<T>; endedAtMs: number } | undefined;
  return () => {
    if (last !== undefined && monotonicMs() - last.endedAtMs < forMs) return last.found;
    const asked = { found: ask(), endedAtMs: Infinity };
    const end = () => void (asked.endedAtMs = monotonicMs());
    asked.found.then(end, end);
    last = asked;
    return asked.found;
  };
}

/**
 * Caches the last answer of an expensive query: it is made again when it is older than `freshMs`, once for all callers.
 * If the query fails, or takes longer than `patienceMs`, the last answer is used.
 */
export function keepFresh<T>(options: {
  readonly ask: () => Promise<T>;
  readonly freshMs: number;
  readonly patienceMs: number;
  readonly monotonicMs: () => number;
  readonly failed: (error: unknown) => void;
}) {
  let last: { readonly answer: T; readonly atMs: number } | undefined;
  let asking: Promise<void> | undefined;

  const askNow = async (): Promise<void> => {
    try {
      const answer = await options.ask();
      last = { answer, atMs: options.monotonicMs() };
    } catch (error) {
      options.failed(error);
    } finally {
      asking = undefined;
    }
  };

  return async (): Promise<T | undefined> => {
    if (last === undefined || options.monotonicMs() - last.atMs >= options.freshMs) {
      await Promise.race([(asking ??= askNow()), passed(options.patienceMs)]);
    }
    return last?.answer;
  };
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
