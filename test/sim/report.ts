import type { SimResult } from './simulate.js';

const SHOWN_LINES = 200;

/** A run that broke a promise, for a person: what, both sides of it, the last of the trace, and how to see it again. */
export function failureText(result: SimResult, replay: string, mostLines = SHOWN_LINES): string {
  const { lines, violations, seed } = result;
  const sides = violations.map(
    ({ invariant, what, expected, found }) =>
      `${invariant}: ${what}\n    expected: ${expected}\n    found:    ${found}`,
  );
  const shown = lines.slice(-mostLines);
  const left = lines.length - shown.length;
  return [
    ...(left > 0 ? [`… ${left} earlier lines: --trace shows all`] : []),
    ...shown,
    '',
    `SEED ${seed} BREAKS ${violations.length === 1 ? 'A PROMISE' : `${violations.length} PROMISES`}`,
    ...sides,
    '',
    `Replay: ${replay}`,
  ].join('\n');
}

/** What happened in many runs: endings by kind, and faults that really were there. */
export function createTally() {
  const endings = new Map<string, number>();
  const faults = new Map<string, number>();
  let runs = 0;
  let steps = 0;
  let parked = 0;
  const more = (map: Map<string, number>, name: string, by = 1) => map.set(name, (map.get(name) ?? 0) + by);
  return {
    add(result: SimResult): void {
      runs += 1;
      steps += result.steps;
      parked += result.parked;
      for (const ending of result.endings) more(endings, ending);
      for (const [name, times] of result.faults) more(faults, name, times);
    },
    faults: faults as ReadonlyMap<string, number>,
    endings: endings as ReadonlyMap<string, number>,
    text(): string {
      const table = (map: ReadonlyMap<string, number>) =>
        [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => `  ${String(times).padStart(7)}  ${name}`);
      return [
        `${runs} runs, ${steps} steps, ${parked} flows that asked a person`,
        'Endings:',
        ...table(endings),
        'Faults:',
        ...table(faults),
      ].join('\n');
    },
  };
}
