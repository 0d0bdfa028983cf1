/** What of an error may be logged: its name, its code, and the same of its cause. Messages and members may hold bodies. */
export interface LoggedError {
  readonly name: string;
  readonly code?: string | number;
  readonly cause?: LoggedError;
  /** Where it was thrown: functions and files, without the message. */
  readonly at?: string;
}

export function errorForLog(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : null;
  const at = error.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(code === null ? {} : { code }),
    ...(at === undefined || depth > 0 ? {} : { at: at.trim() }),
    ...(error.cause === undefined || depth > 2 ? {} : { cause: errorForLog(error.cause, depth + 1) }),
  };
}
