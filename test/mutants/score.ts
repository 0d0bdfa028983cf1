import type { Verdict } from './sampled.js';

export const isFound = ({ result }: Verdict) => result === 'killed' || result === 'timed out';

/** The part of the mutants that a test found. */
export const scoreOf = (verdicts: readonly Verdict[]) => verdicts.filter(isFound).length / verdicts.length;

/**
 * A line for each folder, and one for all: with the bounds of the whole code's score, unless tests were written for this
 * very sample.
 */
export function summaryOf(verdicts: readonly Verdict[], isJudgedAgain: boolean): string {
  const folderOf = ({ file }: Verdict) => /^src\/(?:gateway\/)?[\w-]+(?:\.ts)?|^\w+/.exec(file)?.[0] ?? file;
  const folders = [...new Set(verdicts.map(folderOf))].toSorted();
  const rows = folders.map((folder) => rowOf(folder, verdicts.filter((verdict) => folderOf(verdict) === folder))); // prettier-ignore
  const [low, high] = boundsOf(scoreOf(verdicts), verdicts.length).map((bound) => (bound * 100).toFixed(1));
  const bounds = isJudgedAgain ? 'of a sample that was judged before' : `95 % interval ${low} to ${high} %`;
  return [...rows, `${rowOf('all', verdicts)}, ${bounds}`].join('\n');
}

function rowOf(name: string, verdicts: readonly Verdict[]): string {
  const count = (result: Verdict['result']) => verdicts.filter((verdict) => verdict.result === result).length;
  const found = verdicts.filter(isFound).length;
  const kinds = (['timed out', 'survived', 'unreached'] as const).map((result) => `${count(result)} ${result}`);
  const percent = (scoreOf(verdicts) * 100).toFixed(1);
  return `${name.padEnd(24)}${percent} %: ${found} of ${verdicts.length} found (${kinds.join(', ')})`;
}

/** Wilson's interval of a part that was measured on a sample. */
function boundsOf(part: number, count: number): readonly number[] {
  const z = 1.96;
  const middle = part + (z * z) / (2 * count);
  const spread = z * Math.sqrt((part * (1 - part)) / count + (z * z) / (4 * count * count));
  return [middle - spread, middle + spread].map((bound) => bound / (1 + (z * z) / count));
}
