import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its clock. */
const MS_PER_TICK = 10;

/** Processes whose CPU is counted, by what they are. */
export type Processes = Readonly<Record<string, number>>;
export type CpuMs = Readonly<Record<string, number>>;

/** CPU of all threads of a process since its start, user and system. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

const readAll = (processes: Processes): CpuMs =>
  Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuMsOf(pid)]));

/** Measures how much CPU each of the processes has used since this call. */
export function stopwatch(processes: Processes): () => CpuMs {
  const before = readAll(processes);
  return () =>
    Object.fromEntries(Object.entries(readAll(processes)).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
}

export const sumOf = (cpu: CpuMs): number => Object.values(cpu).reduce((sum, ms) => sum + ms, 0);

/** Of each operation: `gateway 0.31 + server 4.20`. */
export const cpuPer = (operations: number, cpu: CpuMs): string =>
  Object.entries(cpu)
    .map(([name, ms]) => `${name} ${(ms / operations).toFixed(2)}`)
    .join(' + ');
