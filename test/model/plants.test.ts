import { describe, expect, it } from '@jest/globals';
import { lookFor, PLANTS } from './plants.js';
import type { Space } from './spaces.js';

const SMALL = { faults: 0, events: 0, orders: 0 } as const;
const spaces: readonly Space[] = (['crypto-send', 'bank-withdrawal'] as const).flatMap((kind) => [
  { kind, ...SMALL, faults: 1 },
  { kind, ...SMALL, events: 1 },
  { kind, ...SMALL, orders: 1 },
  { kind, ...SMALL, faults: 1, orders: 1 },
]);

/** Of each sort some; `npm run model -- --plant all` looks for every one. */
const FOUND = [
  'without sending',
  'without write-answer',
  'without differs',
  'without last-look',
  'without moved-on',
  'without order-too-early',
  'maybeSent: always no',
  'inboxRead: always yes',
  'underWay: always no',
  'world: void-anything',
  'world: unfenced',
];

describe('what is planted wrong', () => {
  it.each(FOUND)('is found by a violation: %s', (name) => {
    const plant = PLANTS.find((one) => one.name === name);
    expect(plant).toBeDefined();
    expect(plant && lookFor(plant, spaces, [])).toMatchObject({ found: 'violation' });
  });
});
