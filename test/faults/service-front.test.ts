import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openLimitedService, rotated, STORMED, type LimitedService } from './storms.js';

/** One for each spelling of the hint. */
const FLOWS = 3;

describe('a service that limits and checks who asks', () => {
  let limited: LimitedService;
  beforeAll(async () => {
    limited = await openLimitedService();
  });
  afterAll(() => limited.close());

  test('fault 18: 429 over the sends and over the lookups, with each spelling of the hint: no request before it is over, none too many', async () => {
    expect(await limited.storm(FLOWS)).toEqual(Array.from({ length: FLOWS }, () => STORMED));
  });

  test('fault 19: a token that is rejected mid-flow: flows wait, take the new one, and continue; none fails', async () => {
    expect(await limited.rotate(2)).toEqual(rotated(2));
  });
});
