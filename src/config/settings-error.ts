/** The environment does not make usable settings. One sentence for each problem; no secret is ever in it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
