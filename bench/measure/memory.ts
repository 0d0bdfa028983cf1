import { readFileSync } from 'node:fs';

/** Of a process: what it has, or the most that it ever had. NaN if it has ended. */
export function memoryMb(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  try {
    return Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}
