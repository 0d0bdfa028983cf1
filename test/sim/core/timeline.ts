/** Virtual time: planned work, in order. At the same time, the work that was planned first comes first. */
export interface Timeline {
  readonly nowMs: number;
  /** How often something was planned or noted: what does not move it any more is at rest. */
  readonly activity: number;
  /** @param daemon repeats for ever: the run does not wait for it */
  at(atMs: number, work: () => unknown, daemon?: boolean): Planned;
  in(ms: number, work: () => unknown, daemon?: boolean): Planned;
  noteActivity(): void;
  /** Takes the next one and moves time to it; undefined if nothing is left before `untilMs`. */
  next(untilMs: number): (() => unknown) | undefined;
  /** When the next one is due; undefined if nothing is planned. */
  nextAtMs(): number | undefined;
  /** Something other than a daemon is planned. */
  hasWork(): boolean;
}

export interface Planned {
  cancel(): void;
}

interface Entry {
  readonly atMs: number;
  readonly seq: number;
  readonly daemon: boolean;
  work: (() => unknown) | undefined;
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.seq < other.seq);

export function createTimeline(startMs: number): Timeline {
  const heap: Entry[] = [];
  let nowMs = startMs;
  let seq = 0;
  let activity = 0;
  let working = 0;

  function push(entry: Entry): void {
    heap.push(entry);
    let at = heap.length - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at] as Entry, heap[above] as Entry)) return;
      swap(at, above);
      at = above;
    }
  }

  function pop(): Entry | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < heap.length && isBefore(heap[left] as Entry, heap[least] as Entry)) least = left;
      if (right < heap.length && isBefore(heap[right] as Entry, heap[least] as Entry)) least = right;
      if (least === at) return first;
      swap(at, least);
      at = least;
    }
  }

  function swap(one: number, other: number): void {
    const kept = heap[one] as Entry;
    heap[one] = heap[other] as Entry;
    heap[other] = kept;
  }

  const timeline: Timeline = {
    get nowMs() {
      return nowMs;
    },
    get activity() {
      return activity;
    },
    at(atMs, work, daemon = false) {
      activity += 1;
      seq += 1;
      const entry: Entry = { atMs: Math.max(nowMs, atMs), seq, daemon, work };
      if (!daemon) working += 1;
      push(entry);
      return {
        cancel() {
          if (entry.work !== undefined && !daemon) working -= 1;
          entry.work = undefined;
        },
      };
    },
    in: (ms, work, daemon) => timeline.at(nowMs + Math.max(0, ms), work, daemon),
    noteActivity: () => void (activity += 1),
    next(untilMs) {
      for (;;) {
        const first = heap[0];
        if (first === undefined || first.atMs > untilMs) return undefined;
        pop();
        const { work } = first;
        if (work === undefined) continue;
        first.work = undefined;
        if (!first.daemon) working -= 1;
        nowMs = first.atMs;
        return work;
      }
    },
    nextAtMs() {
      while (heap[0] !== undefined && heap[0].work === undefined) pop();
      return heap[0]?.atMs;
    },
    hasWork: () => working > 0,
  };
  return timeline;
}
