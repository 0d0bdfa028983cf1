/** Does `work` for each item, this many at a time; results in the order of the items. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next;
      next += 1;
      results[at] = await work(items[at] as Item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** Begins `work` for one item after the other, this many a second, whether or not the earlier ones are done. */
export async function atPace<Item, Result>(
  items: readonly Item[],
  perSecond: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const startedMs = performance.now();
  const begun = items.map(async (item, at) => {
    await new Promise((resolve) => {
      setTimeout(resolve, startedMs + (at * 1_000) / perSecond - performance.now());
    });
    return work(item);
  });
  return Promise.all(begun);
}
