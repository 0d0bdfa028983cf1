/**
 * When the inbox is looked into while events come in a rush, faster than they could be signalled one by one: once in a
 * while only, and then for all that came before. What comes together goes together, and taking it comes first.
 */
export interface RushLooks {
  isOn(): boolean;
  /** Whole milliseconds until a look is due; 0: now. Asked with each event. */
  heldBackMs(): number;
  /**
   * A look is over.
   * @param oldest when the oldest event that it found was received, ISO 8601
   * @param isFull it found as many flows as there were places
   */
  looked(oldest: string | undefined, isFull: boolean): void;
}

const BETWEEN_LOOKS_MS = 3_000;

export interface RushClocks {
  /** Never turned back. */
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
}

const CLOCKS: RushClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

export function createRushLooks(isRush: () => boolean, clocks: RushClocks = CLOCKS): RushLooks {
  /** None where there is no rush. */
  let nextLookAtMs: number | undefined;
  /** While one look needs more places than there are: what came before it is its own. */
  let takesUntilMs: number | undefined;
  return {
    isOn: isRush,
    heldBackMs() {
      if (!isRush()) {
        nextLookAtMs = undefined;
        takesUntilMs = undefined;
        return 0;
      }
      nextLookAtMs ??= clocks.monotonicMs() + BETWEEN_LOOKS_MS;
      return takesUntilMs === undefined ? Math.max(0, Math.ceil(nextLookAtMs - clocks.monotonicMs())) : 0;
    },
    looked(oldest, isFull) {
      if (nextLookAtMs === undefined || oldest === undefined) return;
      takesUntilMs ??= clocks.wallMs();
      if (isFull && Date.parse(oldest) <= takesUntilMs) return;
      takesUntilMs = undefined;
      nextLookAtMs = clocks.monotonicMs() + BETWEEN_LOOKS_MS;
    },
  };
}
