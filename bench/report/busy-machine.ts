import { availableParallelism, loadavg } from 'node:os';

/** A warning if clearly more processes wanted to run in the last minute than there are cores. */
export function busyMachine(): string | undefined {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  return load > cores * 1.5 ? `the machine is busy (load ${load.toFixed(1)} on ${cores} cores)` : undefined;
}
