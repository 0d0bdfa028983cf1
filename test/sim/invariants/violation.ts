/** A broken promise, with both sides of it. */
export interface Violation {
  readonly invariant: string;
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}
