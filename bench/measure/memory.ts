import { readFileSync } from 'node:fs';

/**
 * The heap that Node gives a process whose container may have 768 MiB, as the gateway of the Helm chart: on a machine with
 * more memory, V8 lets what is garbage lie for longer.
 */
export const HEAP_IN_A_CONTAINER = '--max-old-space-size=384 --max-semi-space-size=3';

/** Of a process: what it has, or the most that it ever had. NaN if it has ended. */
export function processMemoryMb(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  try {
    return Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}
