import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { timeAfter } from '../../workflows/callbacks.js';

it('the time of a change is that of the clock, and later than that of the change before in any case', () => {
  const time = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2040) });
  fc.assert(
    fc.property(time, time, (beforeMs, nowMs) => {
      const after = Date.parse(timeAfter(new Date(beforeMs).toISOString(), nowMs));
      expect(after).toBe(nowMs > beforeMs ? nowMs : beforeMs + 1);
    }),
  );
});
