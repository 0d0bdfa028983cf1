import { keyOf } from './key.js';
import { moves } from './moves.js';
import { Prints } from './prints.js';
import { begin, type Budget, type Setting, type World } from './world.js';

/** Where an exploration begins. */
interface Beginning {
  readonly world: World;
  /** What was there to go wrong from the start of the flow. */
  readonly most: Budget;
  /** How the flow came there, line by line. */
  readonly story: readonly string[];
}

/** From nothing to one of each, what costs least first. */
const COSTS: readonly Budget[] = [0, 1, 2, 3, 4, 5, 6, 7]
  .map((bits) => ({ faults: bits & 1, events: (bits >> 1) & 1, orders: (bits >> 2) & 1 }))
  .toSorted((one, other) => sumOf(one) - sumOf(other));
const MOST_STATES = 200_000;

function sumOf({ faults, events, orders }: Budget): number {
  return faults + events + orders;
}

/**
 * The start of the flow; or, with `from`, the nearest state in which that rule decides, or in which a person is asked for
 * that reason, with as little going wrong as it takes: what can follow from there is explored with the whole budget. Null:
 * nothing leads there.
 */
export function beginningOf(setting: Setting, left: Budget): Beginning | null {
  const { from } = setting;
  if (from === undefined) return { world: begin(setting, left), most: left, story: [] };
  for (const cost of COSTS) {
    const found = nearest(setting, cost, from);
    if (found === null) continue;
    const { world, story } = found;
    // With what was used up on the way.
    const most = {
      faults: left.faults + cost.faults - world.left.faults,
      events: left.events + cost.events - world.left.events,
      orders: left.orders + cost.orders - world.left.orders,
    };
    return { world: { ...world, left }, most, story };
  }
  return null;
}

interface Visited {
  readonly world: World;
  readonly says: string;
  readonly before: Visited | null;
}

function nearest(setting: Setting, cost: Budget, from: string): Pick<Beginning, 'world' | 'story'> | null {
  const prints = new Prints(MOST_STATES);
  let frontier: readonly Visited[] = [{ world: begin(setting, cost), says: '', before: null }];
  while (frontier.length > 0 && prints.size < MOST_STATES) {
    const next: Visited[] = [];
    for (const visited of frontier) {
      const { world } = visited;
      if (world.decision.rule === from || world.known.parked?.reason === from)
        return { world, story: storyTo(visited) };
      for (const move of moves(setting, world)) {
        const to = move.to();
        const size = prints.size;
        // What is left is not in the key: the same state with less left is no nearer.
        if (prints.add(keyOf(to)) === size && prints.size < MOST_STATES)
          next.push({ world: to, says: move.says, before: visited });
      }
    }
    frontier = next;
  }
  return null;
}

function storyTo(last: Visited): readonly string[] {
  const lines: string[] = [];
  for (let at: Visited | null = last; at?.before != null; at = at.before)
    lines.unshift(at.says, `    ${inWords(at.world)}`);
  return lines;
}

export function inWords({ end, decision, known }: World): string {
  if (end !== null) return `the flow ends: ${end.state}${end.reason === null ? '' : ` (${end.reason})`}`;
  const steps = decision.steps.map((step) => step.do).join(', ') || 'waits';
  const order = decision.orderRule === null ? '' : `, order: ${decision.orderRule}`;
  return `the flow: ${decision.rule}${order} → ${steps}${known.parked === null ? '' : ` [parked: ${known.parked.reason}]`}`;
}
