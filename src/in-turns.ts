import { bulkhead, type BulkheadPolicy } from 'cockatiel';

/** Does `work` for each item, this many at a time. The results are in the order of the items. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const turn = async (): Promise<void> => {
    for (const [at, item] of waiting) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, turn));
  return results;
}

/** Does so much at a time for each name. The rest waits, in order, and no name waits for another one. */
export function createTurns(atOnce: number) {
  const ofNames = new Map<string, BulkheadPolicy>();
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const turns = ofNames.get(name) ?? bulkhead(atOnce, Infinity);
    ofNames.set(name, turns);
    try {
      return await turns.execute(work);
    } finally {
      if (turns.executionSlots === atOnce) ofNames.delete(name);
    }
  };
}
