/** Messages between the store and the thread that owns the database. */

export type SqlValue = string | number | null | Uint8Array;

/** One prepared statement with its parameters, in order. */
export interface Step {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** libsql gives blobs back as ArrayBuffers, pg as Buffers. */
export type SqlBlob = ArrayBuffer | Uint8Array;

export const bytesOf = (value: SqlValue | SqlBlob | undefined): Uint8Array => new Uint8Array(value as SqlBlob);

export type Row = Readonly<Record<string, string | number | null | SqlBlob>>;

/** `changes` counts the rows that a statement without result rows wrote. */
export interface StepResult {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/** Steps that happen all or not at all. */
export type Request = readonly Step[];

export type Outcome = { readonly results: readonly StepResult[] } | { readonly failed: string };

/** A step whose text the thread knows by its number. */
export type NumberedStep = readonly [text: number, params: readonly SqlValue[]];

/** Requests that share one transaction, and one fsync. */
export interface Batch {
  readonly writes: boolean;
  readonly requests: readonly (readonly NumberedStep[])[];
  /** Texts that this batch is the first to use, by number: to send each with every step costs more than to run it. */
  readonly texts: readonly (readonly [text: number, sql: string])[];
}

export type ToThread = { readonly kind: 'batch'; readonly batch: Batch } | { readonly kind: 'close' };

/** `failed`: the batch as a whole; nothing of it was written. */
export type FromThread =
  | { readonly kind: 'opened' }
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'closed' };

export interface ThreadData {
  /** The file of the libsql package, found by the main thread. */
  readonly libsql: string;
  readonly path: string;
  readonly pragmas: readonly string[];
  /** How long a batch tries for the write lock. */
  readonly lockTimeoutMs: number;
}
