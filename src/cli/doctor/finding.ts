import type { ExitCode } from '../exit-codes.js';

/** What is to be known or mended; `ok`: nothing. */
export type FindingCode =
  | 'ok'
  | 'behind'
  | 'ahead'
  | 'doubt'
  | 'failing'
  | 'limited'
  | 'missing'
  | 'no-date'
  | 'no-discovery-document'
  | 'no-namespace'
  | 'no-usable-key'
  | 'none'
  | 'not-bound'
  | 'not-listed'
  | 'not-ready'
  | 'not-set'
  | 'other-account'
  | 'other-epoch'
  | 'other-issuer'
  | 'other-namespace'
  | 'other-namespace-and-account'
  | 'other-store'
  | 'pairwise-subject'
  | 'profile-differs'
  | 'provider-unknown'
  | 'reads-forbidden'
  | 'rule-unknown'
  | 'secret-shown'
  | 'stopped'
  | 'token-refused'
  | 'too-many-requests'
  | 'too-old'
  | 'unexpected-status'
  | 'unreachable'
  | 'unusable';

/** The result of one check of the doctor. */
export interface Finding {
  /** `note`: not a problem, but good to know. */
  readonly verdict: 'good' | 'note' | 'bad';
  readonly about: string;
  /** For programs: `sentence` may be worded otherwise in a later version. */
  readonly code: FindingCode;
  readonly sentence: string;
  /** Of a bad one. */
  readonly exitCode?: ExitCode;
}

export const good = (about: string, sentence: string): Finding => ({ verdict: 'good', about, code: 'ok', sentence });
export const note = (about: string, code: FindingCode, sentence: string): Finding => ({
  verdict: 'note',
  about,
  code,
  sentence,
});
export const bad = (about: string, code: FindingCode, sentence: string, exitCode: ExitCode): Finding => ({
  verdict: 'bad',
  about,
  code,
  sentence,
  exitCode,
});
