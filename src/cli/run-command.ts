import type { ExitCode } from './exit-codes.js';

/** Runs what a command does and keeps its exit code for the end. */
export type RunCommand = (work: () => Promise<ExitCode>) => Promise<void>;
