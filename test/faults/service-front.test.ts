import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openLimitedService, rotated, STORMED, type LimitedService } from './storms.js';

/** One for each spelling of the hint. */
const FLOWS = 3;

describe('flows of a service', () => {
  let limited: LimitedService;
  beforeAll(async () => {
    limited = await openLimitedService();
  });
  afterAll(() => limited.close());

  test('make no request before a hint is over, and none too many, if sends and lookups are answered 429 (fault 18)', async () => {
    expect(await limited.storm(FLOWS)).toEqual(Array.from({ length: FLOWS }, () => STORMED));
  });

  test('wait while their token is answered 401, continue with a new one, and all complete (fault 19)', async () => {
    expect(await limited.rotate(2)).toEqual(rotated(2));
  });
});
