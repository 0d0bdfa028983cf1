import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const KEPT_CHARACTERS = 4_000;

export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    /** Why the file could not run. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      /** Ms. */
      readonly duration?: number;
    }[];
  }[];
}

/** The tests that failed in a file, or why it could not run. */
export function failuresOf({
  status,
  message,
  assertionResults,
}: TestReport['testResults'][number]): readonly string[] {
  const failed = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
  return failed.length > 0 || status === 'passed' ? failed : [message];
}

const running = new Set<number>();

/** Ends all tests that run, with the processes that they started. */
export function endTests(): void {
  for (const pid of running) end(pid);
}

function end(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

/**
 * Runs vitest in a copy of the sources. The report is empty if that took too long, and was ended.
 * @throws Error if it ended by itself without a report
 */
export function runTests(
  copy: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  limitMs = 3_600_000,
): Promise<TestReport> {
  const outputFile = join(copy, `report-${randomUUID()}.json`);
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
  return new Promise((resolve, reject) => {
    // A group of its own: a process of tests that loops for ever is ended with the others.
    const flags = ['--reporter=json', `--outputFile=${outputFile}`];
    const child = spawn(process.execPath, [vitest, 'run', ...args, ...flags], {
      cwd: copy,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    const pid = child.pid ?? 0;
    running.add(pid);
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-KEPT_CHARACTERS)));
    const timer = setTimeout(() => end(pid), limitMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      running.delete(pid);
      if (code === null) resolve({ testResults: [] });
      else if (!existsSync(outputFile)) reject(new Error(`The tests ended without a report:\n${output}`));
      else resolve(JSON.parse(readFileSync(outputFile, 'utf8')) as TestReport);
    });
  });
}
