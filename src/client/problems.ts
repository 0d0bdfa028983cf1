import type { z } from 'zod';

/** A member at fault, and what is wrong with it: never the value, which may be a card or a phone number. */
export interface Problem {
  readonly path: string;
  readonly problem: string;
}

// Keys of open objects come from the caller or the service, so that even a key may be personal data.
const readablePath = (path: readonly PropertyKey[]): string =>
  path.map((key) => (/^(?:[A-Za-z_]\w{0,60}|\d{1,4})$/.test(String(key)) ? String(key) : '…')).join('.');

/** What a schema refuses. The messages of zod and of our schemas name types and allowed words, never the value. */
export function problemsOf(error: z.core.$ZodError): Problem[] {
  return error.issues.flatMap((issue) => {
    // Zod reports an unknown member on its parent; the member at fault is the unknown one.
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: readablePath([...issue.path, key]), problem: 'is not in the contract' }));
    }
    return [{ path: readablePath(issue.path), problem: issue.message }];
  });
}

export const pathsOf = (error: z.core.$ZodError): string[] => [...new Set(problemsOf(error).map(({ path }) => path))];
