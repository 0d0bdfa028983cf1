import type { DutyStore } from '../../store/duties.js';

/** Work that one gateway at a time does for all that share a store. */
export interface Duty {
  /** Another gateway has it until this one finds it free: the store is asked now and then. @throws StoreUnavailableError */
  isOurs(): Promise<boolean>;
  /** Leaves it to another gateway at once. */
  leave(): Promise<void>;
}

/** @param forMs after the death of its holder, another gateway has it after so long at most, and a third of it */
export function createDuty(duties: DutyStore, name: string, forMs: number, monotonicMs: () => number): Duty {
  let askedMs = -Infinity;
  let ours = false;
  return {
    async isOurs() {
      const nowMs = monotonicMs();
      if (nowMs - askedMs < forMs / 3) return ours;
      // Where the store does not say, it may be another one's soon.
      ours = false;
      ours = await duties.take(name, forMs);
      askedMs = nowMs;
      return ours;
    },
    async leave() {
      if (ours) await duties.leave(name).catch(() => undefined);
      ours = false;
    },
  };
}
