import type { z } from 'zod';

/** One control endpoint, as data: routes, validation and the list at `GET /_sandbox` derive from it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/_sandbox`. */
  readonly path: string;
  readonly summary: string;
  /** Body of a POST; query of a GET or DELETE. */
  readonly input?: z.ZodType;
  readonly handle: (call: { input: never; params: Readonly<Record<string, string>> }) => unknown;
}

/** Keeps input schema and handler in step. */
export function endpoint<S extends z.ZodType>(definition: {
  method: Endpoint['method'];
  path: string;
  summary: string;
  input?: S;
  handle: (call: { input: z.output<S>; params: Readonly<Record<string, string>> }) => unknown;
}): Endpoint {
  return definition;
}
