import { describe, expect, it } from '@jest/globals';
import { explore, storyOf } from './explore.js';
import { differencesFrom } from './known-pairs.js';
import { budgetOf, IN_TESTS, nameOf, settingOf } from './spaces.js';

const MOST_STATES = 1_000_000;
let states = 0;
const pairs = new Set<string>();

describe('every order of faults, events, orders and time, within the bounds', () => {
  it.each(IN_TESTS.map((space) => [nameOf(space), space] as const))('breaks nothing that must hold: %s', (_, space) => {
    const setting = settingOf(space);
    const found = explore(setting, budgetOf(space), MOST_STATES);
    const story =
      found.violation === null
        ? []
        : [found.violation.says, ...storyOf(setting, budgetOf(space), found.violation.path)];
    expect(story).toEqual([]);
    expect(found.isWhole).toBe(true);
    states += found.states;
    for (const pair of found.pairs) pairs.add(pair);
  });

  it('are 300,000 states or more', () => {
    expect(states).toBeGreaterThanOrEqual(300_000);
  });

  it('have the pairs of step and result that are written down, with which those of real flows are compared', () => {
    expect(differencesFrom('in-tests', pairs)).toEqual([]);
  });
});
