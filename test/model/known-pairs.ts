import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { whyOutside } from './outside.js';

/**
 * Shapes of the steps and results that the world of the model hands to flows, in generated files, a shape a line. So that
 * what a real flow has learnt can be compared without an exploration.
 */
export const PAIR_FILES = {
  /** In the spaces of `npm test`; test/model/model.test.ts writes it with `WRITE_DOCS=1`. */
  'in-tests': 'WRITE_DOCS=1 npm test -- test/model/model.test.ts',
  /** In those of `npm run model`, which writes it with `WRITE_DOCS=1`. */
  whole: 'WRITE_DOCS=1 npm run model',
} as const;
type PairFile = keyof typeof PAIR_FILES;

const pathOf = (file: PairFile): string => fileURLToPath(new URL(`./pairs/${file}.txt`, import.meta.url));

export function pairsIn(file: PairFile): ReadonlySet<string> {
  return new Set(readFileSync(pathOf(file), 'utf8').split('\n').filter(Boolean));
}

/** What is there and not in the file, and what is in the file and not there. With `WRITE_DOCS=1` it is written first. */
export function differencesFrom(file: PairFile, pairs: ReadonlySet<string>): readonly string[] {
  if (process.env['WRITE_DOCS']) writeFileSync(pathOf(file), `${[...pairs].toSorted().join('\n')}\n`);
  const written = pairsIn(file);
  return [
    ...[...pairs].filter((pair) => !written.has(pair)).map((pair) => `+ ${pair}`),
    ...[...written].filter((pair) => !pairs.has(pair)).map((pair) => `- ${pair}`),
  ];
}

/** Of the shapes that real flows have learnt those that the world of the model does not know. */
export function unknownTo(known: ReadonlySet<string>, pairs: Iterable<string>): readonly string[] {
  return [...pairs].filter((pair) => !known.has(pair) && whyOutside(pair) === null).toSorted();
}
