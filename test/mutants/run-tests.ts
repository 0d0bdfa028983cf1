import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEPT_CHARACTERS = 4_000;

/** A file of tests that was run, as `reporter.mjs` writes it. */
export interface TestedFile {
  readonly path: string;
  readonly ms: number;
  /** Why the file could not run, or failed besides its tests. */
  readonly problem: string | null;
  readonly tests: readonly { readonly name: string; readonly status: string; readonly ms: number }[];
}

/** The tests that failed in a file, or what is wrong with it. */
export function failuresOf({ problem, tests }: TestedFile): readonly string[] {
  const failed = tests.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return failed.length > 0 || problem === null ? failed : [problem];
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

/** No mutant has this number. */
export const NO_MUTANT = -1;

export interface TestRun {
  readonly files: readonly string[];
  /** Full names. @default all tests of the files */
  readonly names?: readonly string[];
  /** `all`: none is switched on, and each file has a process of its own. */
  readonly mutant: number | 'all';
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/**
 * Runs Jest in a copy of the sources. Returns nothing if that took too long, and was ended.
 * @throws Error if it ended by itself without a report
 */
export function runTests(copy: string, run: TestRun): Promise<readonly TestedFile[]> {
  const { files, names, mutant, env = {}, limitMs = 3_600_000 } = run;
  const id = randomUUID();
  const report = join(copy, `report-${id}.json`);
  // In a file, since the names are long.
  const chosen = join(copy, `tests-${id}.json`);
  writeFileSync(chosen, JSON.stringify({ files, names }));
  const jest = join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
  return new Promise((resolve, reject) => {
    // A group of its own: a process of tests that loops for ever is ended with the others.
    const child = spawn(process.execPath, [jest, '--config', 'test/mutants/jest.config.mjs'], {
      cwd: copy,
      env: {
        ...process.env,
        ...env,
        MUTANT: mutant === 'all' ? '' : String(mutant),
        MUTANT_TESTS: chosen,
        MUTANT_REPORT: report,
        TEST_RUN: id,
      },
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
      if (code === null) resolve([]);
      else if (!existsSync(report)) reject(new Error(`The tests ended without a report:\n${output}`));
      else resolve(JSON.parse(readFileSync(report, 'utf8')) as readonly TestedFile[]);
    });
  });
}
