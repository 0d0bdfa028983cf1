import type { FlowState } from '../protocol/vocabulary.js';

/** The exit codes of every command; `--help` shows them. */
export const EXIT = {
  /** Completed or refunded; for other commands: done. */
  done: 0,
  /** Wrong usage, wrong settings, or refused by the gateway. */
  refused: 1,
  /** The flow failed, expired or was cancelled. */
  failed: 2,
  /** The flow waits for a person. */
  parked: 3,
  /** Gateway, service or Temporal cannot be reached. */
  unreachable: 4,
  /** The time of `wait` was up before the flow ended. */
  running: 5,
  /** The order was only proposed: a second person has to confirm it. */
  proposed: 6,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const OF_STATE = {
  completed: EXIT.done,
  refunded: EXIT.done,
  failed: EXIT.failed,
  expired: EXIT.failed,
  cancelled: EXIT.failed,
  parked: EXIT.parked,
  running: EXIT.running,
} as const satisfies Record<FlowState, ExitCode>;

export function exitCodeOf(state: FlowState): ExitCode {
  return OF_STATE[state];
}

export const EXIT_CODES_HELP = `
Exit codes:
  0  completed or refunded; for other commands: done
  1  wrong usage, wrong settings, or refused by the gateway
  2  the flow failed, expired or was cancelled
  3  the flow is parked: it waits for a person
  4  gateway, service or Temporal cannot be reached
  5  the flow was still running when the time was up
  6  the order was only proposed: it waits for a second person`;

/** Something that the user can do something about: its sentence is shown alone, without a stack. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: ExitCode;

  constructor(sentence: string, exitCode: ExitCode = EXIT.refused) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
