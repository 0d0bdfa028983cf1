/** Asks for each item, this many at a time; the answers have the order of the items. @throws what `ask` throws */
export async function inTurns<T, R>(items: readonly T[], atOnce: number, ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  const waiting = items.entries();
  const turn = async () => {
    for (const [index, item] of waiting) answers[index] = await ask(item);
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
  return answers;
}
