import type { TrialName } from './trials.js';

/** A change of one text of the sources. */
export interface Edit {
  readonly file: string;
  /** A text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** A bug that a developer might make. The judge must name the invariant that it breaks. */
export interface PlantedBug {
  readonly name: string;
  readonly story: string;
  readonly invariant: string;
  readonly trial: TrialName;
  readonly edits: readonly Edit[];
}
