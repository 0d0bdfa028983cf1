import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KILL_POINTS, killWorkers } from './kill-points.js';
import { openRig, type Rig } from './rig.js';

describe('a worker that is killed around a POST (SIGKILL)', () => {
  let rig: Rig;
  let after: Awaited<ReturnType<typeof killWorkers>>;
  beforeAll(async () => {
    rig = await openRig();
    after = await killWorkers(rig, 1, 1);
  });
  afterAll(() => rig.close());

  it.each(KILL_POINTS)('$word: $says', async (point) => {
    expect(await after(point)).toEqual([point.expected]);
  });
});
