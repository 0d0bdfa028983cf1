import { moves } from './moves.js';
import { keyOf } from './key.js';
import { broken, brokenMove, brokenRest } from './properties.js';
import { beginningOf, inWords } from './beginning.js';
import { Prints } from './prints.js';
import type { Budget, Setting, World } from './world.js';

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly cpuSeconds: number;
  /** Numbers of the moves from the beginning, and what is wrong there. */
  readonly violation: { readonly says: string; readonly path: readonly number[] } | null;
  /** Rules, parks, ends and orders that were reached. */
  readonly seen: ReadonlySet<string>;
  /** Shapes of the steps and results in it. */
  readonly pairs: ReadonlySet<string>;
  /** False: the limit of states ended it. */
  readonly isWhole: boolean;
}

/**
 * Every state that can be reached, once, breadth first: the first violation has a shortest path. A state that was reached
 * with as much left, or more, is not explored again: nothing new can follow. Only prints of the states are kept.
 */
export function explore(setting: Setting, left: Budget, mostStates: number): Explored {
  const start = process.cpuUsage();
  const prints = new Prints(mostStates);
  const budgets = new Budgets(left, mostStates);
  const mostExplored = mostStates * 2;
  const parent = new Int32Array(mostExplored);
  const moveTo = new Uint8Array(mostExplored);
  const firstAt = new Int32Array(mostStates + 1);
  const calmTo = new Int32Array(mostStates + 1).fill(-1);
  const seen = new Set<string>();
  setting.decided.clear();
  setting.pairs.clear();
  let [explored, transitions, depth] = [1, 0, 0];
  let resting: { at: number; says: string } | null = null;
  const begun = beginningOf(setting, left);

  const result = (isWhole: boolean, violation: { at: number; says: string; move?: number } | null): Explored => {
    const used = process.cpuUsage(start);
    for (const name of setting.decided) seen.add(`rule ${name}`);
    const cpuSeconds = (used.user + used.system) / 1e6;
    const path =
      violation === null
        ? null
        : [...pathTo(violation.at, parent, moveTo), ...(violation.move === undefined ? [] : [violation.move])];
    return {
      states: prints.size,
      transitions,
      depth,
      cpuSeconds,
      seen,
      pairs: setting.pairs,
      isWhole,
      violation: violation === null || path === null ? null : { says: violation.says, path },
    };
  };

  if (begun === null) return result(false, null);
  const { world: first, most } = begun;
  prints.add(keyOf(first));
  budgets.isNew(0, left);
  let frontier: Entry[] = [{ at: 0, print: 0, world: first }];
  while (frontier.length > 0) {
    depth += 1;
    const next: Entry[] = [];
    for (const { at, print, world } of frontier) {
      note(seen, world);
      const wrong = broken(setting, world, most);
      if (wrong !== null) return result(false, { at, says: wrong });
      const list = moves(setting, world);
      if (resting === null && !list.some(({ isCalm }) => isCalm)) {
        const says = brokenRest(world);
        if (says !== null) resting = { at, says };
      }
      for (const [number, move] of list.entries()) {
        transitions += 1;
        const to = move.to();
        const says = brokenMove(setting, world, to);
        if (says !== null) return result(false, { at, says, move: number });
        const found = prints.add(keyOf(to));
        if (move.isCalm && calmTo[print] === -1) calmTo[print] = found;
        if (!budgets.isNew(found, to.left)) continue;
        if (prints.size >= mostStates || explored >= mostExplored) return result(false, null);
        parent[explored] = at;
        moveTo[explored] = number;
        if (firstAt[found] === 0) firstAt[found] = explored;
        next.push({ at: explored, print: found, world: to });
        explored += 1;
      }
    }
    frontier = next;
  }
  if (resting !== null) return result(true, resting);
  const loop = loopIn(calmTo, prints.size);
  return result(
    true,
    loop === null ? null : { at: firstAt[loop] ?? 0, says: 'it goes round for ever, and nothing goes wrong' },
  );
}

interface Entry {
  readonly at: number;
  readonly print: number;
  readonly world: World;
}

/** The story of a path: what happens, and what the flow decides. */
export function storyOf(setting: Setting, left: Budget, path: readonly number[]): readonly string[] {
  const begun = beginningOf(setting, left);
  if (begun === null) return [`(nothing leads to "${setting.from ?? ''}")`];
  const lines = [...begun.story];
  let { world } = begun;
  for (const number of path) {
    const move = moves(setting, world)[number];
    if (move === undefined) return [...lines, `(there is no move ${number} here: the path is of other sources)`];
    world = move.to();
    lines.push(move.says, `    ${inWords(world)}`);
  }
  return lines;
}

function note(seen: Set<string>, { known, end }: World): void {
  if (known.parked !== null) seen.add(`park ${known.parked.reason}`);
  if (end !== null) seen.add(`end ${end.state} ${end.reason ?? ''}`.trim());
  for (const { action, became } of known.orders) if (became !== null) seen.add(`order ${action} ${became}`);
}

/** Each state has one calm successor, so that following them comes to rest or goes round. */
function loopIn(calmTo: Int32Array, size: number): number | null {
  const mark = new Int32Array(size);
  for (let begun = 0; begun < size; begun += 1) {
    for (let at = begun; at !== -1 && mark[at] === 0; at = calmTo[at] ?? -1) {
      mark[at] = begun + 1;
      const to = calmTo[at] ?? -1;
      if (to !== -1 && mark[to] === begun + 1) return to;
    }
  }
  return null;
}

function pathTo(index: number, parent: Int32Array, moveTo: Uint8Array): readonly number[] {
  const path: number[] = [];
  for (let at = index; at !== 0; at = parent[at] ?? 0) path.unshift(moveTo[at] ?? 0);
  return path;
}

/** With which budgets a state was explored: a bit for each, and for each one the bits of those that allow as much or more. */
class Budgets {
  private readonly low: Uint32Array;
  private readonly high: Uint32Array;
  private readonly most: Budget;
  private readonly covered: readonly (readonly [low: number, high: number])[];

  constructor(most: Budget, states: number) {
    this.most = most;
    this.low = new Uint32Array(states + 1);
    this.high = new Uint32Array(states + 1);
    const all: Budget[] = [];
    for (let faults = 0; faults <= most.faults; faults += 1)
      for (let events = 0; events <= most.events; events += 1)
        for (let orders = 0; orders <= most.orders; orders += 1) all.push({ faults, events, orders });
    if (all.length > 64) throw new RangeError('more than 64 budgets');
    this.covered = all.map((one) => {
      const bits: [number, number] = [0, 0];
      all.forEach((other, index) => {
        const isAsMuch = other.faults >= one.faults && other.events >= one.events && other.orders >= one.orders;
        if (isAsMuch) bits[index >> 5] = ((bits[index >> 5] ?? 0) | (1 << (index & 31))) >>> 0;
      });
      return bits;
    });
  }

  isNew(print: number, { faults, events, orders }: Budget): boolean {
    const index = (faults * (this.most.events + 1) + events) * (this.most.orders + 1) + orders;
    const [low = 0, high = 0] = this.covered[index] ?? [];
    if ((((this.low[print] ?? 0) & low) | ((this.high[print] ?? 0) & high)) !== 0) return false;
    const half = index < 32 ? this.low : this.high;
    half[print] = ((half[print] ?? 0) | (1 << (index & 31))) >>> 0;
    return true;
  }
}
