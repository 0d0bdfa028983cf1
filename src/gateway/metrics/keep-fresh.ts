/**
 * The last answer of a question that costs something: asked again when it is older than `freshMs`, once for all who want
 * it. Where asking fails, or takes longer than `patienceMs`, the last answer stands, with its age on show.
 */
export function keepFresh<T>(options: {
  readonly ask: () => Promise<T>;
  readonly freshMs: number;
  readonly patienceMs: number;
  readonly nowMs: () => number;
  readonly failed: (error: unknown) => void;
}) {
  let last: { readonly answer: T; readonly atMs: number } | undefined;
  let asking: Promise<void> | undefined;

  const askNow = async (): Promise<void> => {
    try {
      const answer = await options.ask();
      last = { answer, atMs: options.nowMs() };
    } catch (error) {
      options.failed(error);
    } finally {
      asking = undefined;
    }
  };

  return async (): Promise<{ readonly answer: T; readonly atMs: number } | undefined> => {
    if (last === undefined || options.nowMs() - last.atMs >= options.freshMs) {
      await Promise.race([(asking ??= askNow()), passed(options.patienceMs)]);
    }
    return last;
  };
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
