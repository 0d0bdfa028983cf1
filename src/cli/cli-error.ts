import { EXIT, type ExitCode } from './exit-codes.js';

/** Something that the user can do something about: its sentence is shown alone, without a stack. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: ExitCode;

  constructor(sentence: string, exitCode: ExitCode = EXIT.refused) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
