import type { ExitCode } from '../exit-codes.js';

/** The result of one check of the doctor. */
export interface Finding {
  /** `note`: not a problem, but good to know. */
  readonly verdict: 'good' | 'note' | 'bad';
  readonly about: string;
  readonly says: string;
  /** Of a bad one. */
  readonly exitCode?: ExitCode;
}

export const good = (about: string, says: string): Finding => ({ verdict: 'good', about, says });
export const note = (about: string, says: string): Finding => ({ verdict: 'note', about, says });
export const bad = (about: string, says: string, exitCode: ExitCode): Finding => ({
  verdict: 'bad',
  about,
  says,
  exitCode,
});
