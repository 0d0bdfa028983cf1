/** What happened, line by line: virtual time, actor, step, result. */
export interface Trace {
  readonly lines: readonly string[];
  add(actor: string, step: string, result?: string): void;
  /** Counts a fault that really happened. */
  fault(name: string): void;
  readonly faults: ReadonlyMap<string, number>;
}

const KEPT_LINES = 200_000;

export function createTrace(elapsedMs: () => number, live?: (line: string) => void): Trace {
  const lines: string[] = [];
  const faults = new Map<string, number>();
  return {
    lines,
    faults,
    add(actor, step, result = '') {
      const line = `${stamp(elapsedMs())}  ${actor.padEnd(10)} ${step}${result === '' ? '' : ` → ${result}`}`;
      if (lines.length < KEPT_LINES) lines.push(line);
      live?.(line);
    },
    fault: (name) => void faults.set(name, (faults.get(name) ?? 0) + 1),
  };
}

/** `1:02:03.456` since the beginning. */
function stamp(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${clock}.${String(Math.floor(ms % 1_000)).padStart(3, '0')}`.padStart(13);
}
