import { addAmounts, compareAmounts, InvalidAmountError, subtractAmounts } from '../../money.js';
import { flowOf } from '../../flows/index.js';
import { parseFlowId } from '../../protocol/vocabulary.js';
import type { ListedExecution } from '../../temporal/flow-page.js';

/** The value of the runs that were open at one moment. */
export interface ValueInFlight {
  /** That moment, ms: every run that started before it counts, and none that closed before it. */
  readonly atMs: number;
  /** When it was last added up from a list of all open runs, and not from the figure before, ms. */
  readonly listedAtMs: number;
  readonly openRuns: number;
  /** Currency or token → decimal string. */
  readonly amounts: Readonly<Record<string, string>>;
  /** Open runs of kinds that move money whose amount is not known: another client started them. */
  readonly withoutAmount: number;
}

/** Queries to Temporal's visibility; every condition is about flows only. */
export interface RunLists {
  forEach(condition: string, take: (run: ListedExecution) => void): Promise<void>;
  count(condition: string): Promise<number>;
}

/** Visibility lags: what started or closed this long ago is listed, ms. */
export const LISTED_AFTER_MS = 30_000;
/** A figure that is as old is not carried on: runs that closed since may have been deleted. */
const CARRIED_ON_MS = 12 * 3_600_000;
/** If the figures do not add up, all open runs are listed again, but not more often than this, ms. */
const LISTED_AGAIN_MS = 600_000;

/**
 * Updates the figure by the runs that started and closed since, so that the cost depends on what happened meanwhile,
 * not on the number of open runs. One count checks it; if that disagrees (visibility lagged by more than half a
 * minute), all are listed.
 */
export async function valueInFlight(
  lists: RunLists,
  before: ValueInFlight | undefined,
  nowMs: number,
): Promise<ValueInFlight> {
  const atMs = nowMs - LISTED_AFTER_MS;
  const openThen = `StartTime < '${at(atMs)}' AND (CloseTime IS NULL OR CloseTime >= '${at(atMs)}')`;
  const listAll = async (): Promise<ValueInFlight> => {
    const tally = createTally({ openRuns: 0, amounts: {}, withoutAmount: 0 });
    await lists.forEach(openThen, tally.add);
    return { atMs, listedAtMs: nowMs, ...tally.sum() };
  };
  if (before === undefined || atMs - before.atMs > CARRIED_ON_MS) return listAll();
  if (atMs <= before.atMs) return before;
  const tally = createTally(before);
  const since = (time: 'StartTime' | 'CloseTime') => `${time} >= '${at(before.atMs)}' AND ${time} < '${at(atMs)}'`;
  await lists.forEach(since('StartTime'), tally.add);
  await lists.forEach(since('CloseTime'), tally.remove);
  const carriedOn = { atMs, listedAtMs: before.listedAtMs, ...tally.sum() };
  const isRight = (await lists.count(openThen)) === carriedOn.openRuns;
  return isRight || nowMs - before.listedAtMs < LISTED_AGAIN_MS ? carriedOn : listAll();
}

/** Adds these runs. */
export function addRuns(from: Sum, runs: readonly ListedExecution[]): Sum {
  const tally = createTally(from);
  runs.forEach(tally.add);
  return tally.sum();
}

const at = (ms: number): string => new Date(ms).toISOString();

type Sum = Pick<ValueInFlight, 'openRuns' | 'amounts' | 'withoutAmount'>;

function createTally(from: Sum) {
  const amounts = new Map(Object.entries(from.amounts));
  let { openRuns, withoutAmount } = from;
  const change = (run: ListedExecution, by: 1 | -1): void => {
    openRuns += by;
    const money = moneyOf(run);
    if (money === 'unknown') withoutAmount += by;
    if (typeof money === 'string') return;
    const sum = (by > 0 ? addAmounts : subtractAmounts)(amounts.get(money.currency) ?? '0', money.amount);
    if (compareAmounts(sum, '0') === 0) amounts.delete(money.currency);
    else amounts.set(money.currency, sum);
  };
  return {
    add: (run: ListedExecution) => change(run, 1),
    remove: (run: ListedExecution) => change(run, -1),
    sum: (): Sum => ({ openRuns, withoutAmount, amounts: Object.fromEntries(amounts) }),
  };
}

/** The amount that the starter noted; `none` for a kind that moves no money. */
function moneyOf({ workflowId, memo }: ListedExecution): { currency: string; amount: string } | 'none' | 'unknown' {
  const { amount, currency } = memo ?? {};
  const kind = parseFlowId(workflowId)?.kind;
  if (kind === undefined || flowOf(kind).moneyOf === undefined) return 'none';
  if (typeof amount !== 'string' || typeof currency !== 'string') return 'unknown';
  try {
    return { currency, amount: addAmounts(amount) };
  } catch (error) {
    if (error instanceof InvalidAmountError) return 'unknown';
    throw error;
  }
}
