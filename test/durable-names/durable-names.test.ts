import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recordedNames } from './recorded-names.js';
import { LOST_WITH, presentNames, type Names, type NameSort } from './present-names.js';

const sorts = Object.keys(LOST_WITH) as NameSort[];
/** The written names, and those of recorded histories. */
async function snapshot(): Promise<Names> {
  const written = JSON.parse(await readFile(new URL('./names.json', import.meta.url), 'utf8')) as Names;
  const recorded = recordedNames();
  const types = [...written['workflow types'], ...recorded['workflow types']];
  return { ...written, ...recorded, 'workflow types': types };
}

/** One sentence for each name that was lost; a rename counts as lost. */
function lost(before: Names, present: Names): readonly string[] {
  return sorts.flatMap((sort) =>
    (before[sort] ?? [])
      .filter((name) => !present[sort].includes(name))
      .map((name) => `${sort}: "${name}" is gone. ${LOST_WITH[sort].replace('…', name)}. Keep it, or keep both.`),
  );
}

function added(before: Names, present: Names): readonly string[] {
  return sorts.flatMap((sort) =>
    present[sort].filter((name) => !(before[sort] ?? []).includes(name)).map((name) => `add to "${sort}": "${name}"`),
  );
}

describe('durable names', () => {
  it('are all still there: running flows and kept claims hold on to them', async () => {
    expect(lost(await snapshot(), presentNames())).toEqual([]);
  });

  it('are written down in names.json, or recorded in a history, as soon as they are in use', async () => {
    expect(added(await snapshot(), presentNames())).toEqual([]);
  });

  it('would be missed, each with what is lost', () => {
    const present = presentNames();
    const renamed: Names = { ...present, 'activity names': ['renamed', ...present['activity names'].slice(1)] };
    expect(added(present, renamed)).toEqual(['add to "activity names": "renamed"']);
    expect(lost(present, renamed)).toEqual([
      `activity names: "${present['activity names'][0]}" is gone. flows that are about to call ` +
        `${present['activity names'][0]} would wait for it for ever, and histories with it would not replay. ` +
        'Keep it, or keep both.',
    ]);
    for (const sort of sorts) expect(lost(present, { ...present, [sort]: [] })).toHaveLength(present[sort].length);
  });
});
