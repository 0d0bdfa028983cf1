/** Something that was started and must be ended. */
export interface Ending {
  /** Finishes what is in flight. */
  readonly stop: () => Promise<void>;
  readonly stopNow: () => Promise<void>;
}

export interface Endings {
  add(ending: Ending): void;
  /** Ends everything, the latest first. What is added meanwhile is ended as well. */
  stopAll(): Promise<void>;
  stopAllNow(): Promise<void>;
}

/** Remembers what to end, and in which order: who was started later uses what was started earlier. */
export function createEndings(): Endings {
  const started: Ending[] = [];
  let isEnding = false;

  return {
    add(ending) {
      started.push(ending);
      if (isEnding) void ending.stopNow();
    },
    async stopAll() {
      isEnding = true;
      for (let ending = started.at(-1); ending !== undefined; ending = started.at(-1)) {
        await ending.stop();
        started.splice(started.lastIndexOf(ending), 1);
      }
    },
    async stopAllNow() {
      isEnding = true;
      await Promise.all(started.map((ending) => ending.stopNow()));
    },
  };
}
