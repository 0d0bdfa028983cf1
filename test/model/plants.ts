import { CONDITIONS, type Condition, type Plan } from '../../workflows/engine/plan.js';
import { PLANS } from '../../workflows/plans.js';
import { ORDER_RULES } from '../../workflows/engine/orders.js';
import { RULES } from '../../workflows/engine/rules.js';
import type { Rulebook } from '../../workflows/engine/decide.js';
import { explore, type Explored } from './explore.js';
import { budgetOf, nameOf, settingOf, type Space } from './spaces.js';
import { WORLD_PLANTS, type WorldPlant } from './world.js';

/** Something that is planted wrong, to see whether the model notices. */
export interface Plant {
  readonly name: string;
  readonly book: Rulebook;
  readonly worldPlant?: WorldPlant;
}

export const PLANTS: readonly Plant[] = [
  ...[...RULES, ...ORDER_RULES, ...ownRules()].map(({ name }) => ({
    name: `without ${name}`,
    book: { without: name },
  })),
  ...(Object.keys(CONDITIONS) as readonly Condition[]).flatMap((condition) =>
    [true, false].map((says) => ({
      name: `${condition}: always ${says ? 'yes' : 'no'}`,
      book: { planted: { [condition]: says } },
    })),
  ),
  ...(Object.keys(WORLD_PLANTS) as readonly WorldPlant[]).map((worldPlant) => ({
    name: `world: ${worldPlant}`,
    book: {},
    worldPlant,
  })),
];

function ownRules(): readonly { readonly name: string }[] {
  return Object.values<Plan>(PLANS).flatMap(({ rules = [], settlement = [], orderRules = [] }) => [
    ...rules,
    ...settlement,
    ...orderRules,
  ]);
}

export type Verdict =
  | { readonly found: 'violation'; readonly says: string; readonly space: string; readonly path: readonly number[] }
  /** Something that was reached before is not reached any more. */
  | { readonly found: 'unreached'; readonly what: readonly string[] }
  | { readonly found: 'not' };

/** So many times as many states as without it are a flow that goes on and on. */
const MOST_TIMES = 20;
const MOST_STATES = 3_000_000;

/** What is reached in a space without a plant, and in how many states. */
export type Baseline = Pick<Explored, 'states'> & { readonly seen: readonly string[] };

/** @param baseline of each of the spaces */
export function lookFor(plant: Plant, spaces: readonly Space[], baseline: readonly Baseline[]): Verdict {
  const missing = new Set<string>();
  const own = `rule ${plant.book.without ?? ''}`;
  // Where a rule never decides, nothing is different without it.
  const isIdle = (index: number): boolean =>
    plant.book.without !== undefined && baseline[index]?.seen.includes(own) === false;
  for (const [index, space] of spaces.entries()) {
    if (isIdle(index)) continue;
    const found = exploreOrThrow(plant, space, baseline[index]);
    if (typeof found === 'string') return { found: 'violation', says: found, space: nameOf(space), path: [] };
    const { violation, seen } = found;
    // Nothing leads to where it begins any more.
    if (found.states === 0) {
      for (const what of baseline[index]?.seen ?? []) if (what !== own) missing.add(what);
      continue;
    }
    if (!found.isWhole && violation === null)
      return { found: 'violation', says: 'it goes on and on', space: nameOf(space), path: [] };
    if (violation !== null)
      return { found: 'violation', says: violation.says, space: nameOf(space), path: violation.path };
    for (const what of baseline[index]?.seen ?? []) if (what !== own && !seen.has(what)) missing.add(what);
  }
  return missing.size > 0 ? { found: 'unreached', what: [...missing] } : { found: 'not' };
}

/** Decisions that do not settle, or that name what is not there, throw: a flow would wait for a mended version. */
function exploreOrThrow({ book, worldPlant }: Plant, space: Space, baseline?: Baseline): Explored | string {
  const most = Math.min(MOST_STATES, MOST_TIMES * (baseline?.states ?? MOST_STATES));
  try {
    return explore(settingOf(space, book, worldPlant), budgetOf(space), most);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
