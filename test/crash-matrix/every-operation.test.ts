import { afterAll, describe, expect, it } from '@jest/globals';
import { REPEAT_MODES, type RepeatMode } from '../../src/sandbox/settings.js';
import { clusterUrl, makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import {
  crashPoints,
  expectedEnds,
  killAtEveryPoint,
  OPERATIONS,
  DUPLICATE_REFERENCE,
  type CellEnd,
} from './every-operation.js';
import { openRig } from './rig.js';

const DATABASES = clusterUrl === undefined ? (['embedded'] as const) : (['embedded', 'postgres'] as const);
/** `npm run crash-matrix -- --full` sets it. Without it: the mode in which a second POST cannot hide, and one that repeats. */
const isFull = process.env['CRASH_MATRIX'] === 'full';
const MODES = { embedded: ['execute-again'], postgres: ['same-result'] } as const;

/** SIGKILL: every operation × crash point × repeat mode × database. */
describe.each(DATABASES)('a worker that is killed around every POST, store: %s', (database) => {
  it.each<RepeatMode>(isFull ? REPEAT_MODES : MODES[database])(
    'repeats: %s: each is executed once, and only what was never sent asks a person',
    async (mode) => {
      const repeat = DUPLICATE_REFERENCE[mode];
      const shared = database === 'postgres' ? await makeTemporaryDatabase() : undefined;
      const rig = await openRig({
        sandbox: { repeatMode: mode },
        repeat,
        ...(shared === undefined ? {} : { databaseUrl: shared.url }),
      });
      try {
        const ends = await killAtEveryPoint(rig);
        all.push(...ends);
        expect(ends).toEqual(expectedEnds(repeat));
      } finally {
        await rig.close();
        await shared?.drop();
      }
    },
  );
});

const all: CellEnd[] = [];

/** Per cell: flows that were executed exactly once, of how many; per point, the bound that this gives. */
afterAll(() => {
  const cellsOf = (isMeant: (end: CellEnd) => boolean) => all.filter(isMeant);
  const shown = (ends: readonly CellEnd[]) =>
    `${ends.filter(({ executions }) => executions === 1).length}/${ends.length}`;
  const rows = OPERATIONS.map(({ name }) => [
    name,
    ...crashPoints.map((point) => shown(cellsOf((end) => end.operation === name && end.point === point))),
  ]);
  const bounds = crashPoints.map((point) => {
    const n = cellsOf((end) => end.point === point).length;
    return n === 0 ? '-' : `${((3 / n) * 100).toFixed(1)} %`;
  });
  const table = [['executed once, of', ...crashPoints], ...rows, ['3/n', ...bounds]];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  process.stdout.write(`\n${lines.join('\n')}\n`);
});
