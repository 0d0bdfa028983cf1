import type { ExitCode } from '../exit-codes.js';

/** What a check of the doctor found. */
export interface Finding {
  /** `note`: nothing is wrong, but it should be known. */
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
