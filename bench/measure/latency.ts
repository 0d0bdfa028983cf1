import { cpuPer, stopwatch, type CpuMs, type Processes } from './cpu.js';
import { medianOf, sideBySide, type Rounds } from './rounds.js';
import { percentile } from './statistics.js';

/** One of the two that are compared. */
export interface Side {
  /** Processes whose CPU an operation costs. */
  readonly processes: Processes;
  /** Does some operations, for a second or less, and returns how many milliseconds each of them took. */
  readonly stretch: () => Promise<readonly number[]>;
}

/** Of all the stretches of a side in one round. */
export interface Latency {
  readonly tookMs: readonly number[];
  readonly p50: number;
  readonly cpu: CpuMs;
}

interface Stretch {
  readonly tookMs: readonly number[];
  readonly cpu: CpuMs;
}

/** A quarter of a round is enough to warm up. */
const WARM_UP_SHARE = 4;

/**
 * Rounds in which the sides take turns by stretches, since this machine is fast for a minute and slow for the next.
 * `prepare` prepares what this many stretches of each side need. A short first round, which loads code and warms the
 * JIT, is not counted.
 */
export async function compareLatency(
  sides: { readonly a: Side; readonly b: Side },
  options: {
    readonly stretches: number;
    readonly rounds?: number;
    readonly prepare: (stretches: number) => Promise<void>;
  },
): Promise<Rounds<Latency, Latency>> {
  const round = async (stretches: number): Promise<Rounds<Stretch, Stretch>> => {
    await options.prepare(stretches);
    return sideBySide({ a: () => stretchOf(sides.a), b: () => stretchOf(sides.b) }, stretches);
  };
  await round(Math.ceil(options.stretches / WARM_UP_SHARE));
  const rounds = { a: [] as Latency[], b: [] as Latency[] };
  for (let count = options.rounds ?? 3; count > 0; count -= 1) {
    const { a, b } = await round(options.stretches);
    rounds.a.push(latencyOf(a));
    rounds.b.push(latencyOf(b));
  }
  return rounds;
}

async function stretchOf({ processes, stretch }: Side): Promise<Stretch> {
  const cpu = stopwatch(processes);
  const tookMs = await stretch();
  return { tookMs, cpu: cpu() };
}

function latencyOf(stretches: readonly Stretch[]): Latency {
  const tookMs = stretches.flatMap((stretch) => stretch.tookMs);
  const cpu = Object.fromEntries(
    Object.keys(stretches[0]?.cpu ?? {}).map((name) => [
      name,
      stretches.reduce((sum, stretch) => sum + (stretch.cpu[name] ?? 0), 0),
    ]),
  );
  return { tookMs, p50: percentile(tookMs, 0.5), cpu };
}

/** Of the operations of all rounds together: one round has too few for it. */
export const p99Of = (rounds: readonly Latency[]): number =>
  percentile(
    rounds.flatMap(({ tookMs }) => tookMs),
    0.99,
  );

/**
 * `p50 20.1 p99 40.3 ms, CPU ms gateway 0.31 + server 4.20`: p50 is the median of the rounds' values, CPU that of the
 * middle round.
 */
export function shownLatency(rounds: readonly Latency[]): string {
  const { cpu, tookMs } = rounds[rounds.length >> 1] ?? { cpu: {}, tookMs: [] };
  const p50 = medianOf(rounds, (round) => round.p50);
  return `p50 ${p50.toFixed(1)} p99 ${p99Of(rounds).toFixed(1)} ms, CPU ms ${cpuPer(tookMs.length, cpu)}`;
}
