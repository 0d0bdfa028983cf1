import type { CliContext } from '../context.js';

export interface PrintOptions {
  /** For machines. */
  readonly json?: boolean;
}

/** Prints an answer: as JSON where that was asked for, else as text for a person. */
export function print<T>(
  context: CliContext,
  { json = false }: PrintOptions,
  answer: T,
  text: (answer: T) => string,
): void {
  context.out(json ? JSON.stringify(answer, null, 2) : text(answer));
}
