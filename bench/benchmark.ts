import type { Finding } from './report/finding.js';

export interface Benchmark {
  readonly name: string;
  /** For `--help`. */
  readonly about: string;
  /** Takes so long that it runs only if it is named. */
  readonly onlyNamed?: boolean;
  run(say: (line: string) => void): Promise<readonly Finding[]>;
}
