import type { Finding } from './report/finding.js';

export interface Benchmark {
  readonly name: string;
  /** For `--help`. */
  readonly about: string;
  run(say: (line: string) => void): Promise<readonly Finding[]>;
}
