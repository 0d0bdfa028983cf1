/*
 * Answers that cost something, and are asked for by anybody as often as they like: found out once for all of them.
 */

const REMEMBERED_MS = 1_000;

/** One answer, or failure, for all who ask while it is found out, and for `forMs` after. @param forMs @default 1,000 */
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
 * The last answer of a question that costs something: asked again when it is older than `freshMs`, once for all who want
 * it. If asking fails, or takes longer than `patienceMs`, the last answer stands.
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
