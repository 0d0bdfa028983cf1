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
