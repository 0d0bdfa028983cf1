import { bulkhead, type BulkheadPolicy } from 'cockatiel';

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
