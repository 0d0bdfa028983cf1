import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { createDeliveredMarks } from '../../src/gateway/dispatch/delivered-marks.js';
import { until } from '../harness/until.js';

const REST_MS = 250;

/** Marks, with a store that records its calls. */
function marksUnderTest(write: () => Promise<void> = () => Promise.resolve()) {
  const written: { readonly ids: readonly string[]; readonly restMs: number; readonly turn: object }[] = [];
  let turn: object = {};
  const warnings: string[] = [];
  const marks = createDeliveredMarks({
    inbox: {
      markDelivered: (_flowId, ids, restMs = 0) => {
        written.push({ ids, restMs, turn });
        // Calls of one tick see the same object.
        queueMicrotask(() => setImmediate(() => (turn = {})));
        return write();
      },
    },
    logger: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
  });
  return { marks, written, warnings };
}

describe('the marks of delivered events', () => {
  it('are written together, well before the flow may be signalled again, which is not put off by that', async () => {
    const { marks, written } = marksUnderTest();
    const done: string[] = [];
    const addedAtMs = performance.now();
    marks.add('bridge-transfer/r1', ['a'], REST_MS, () => done.push('a'));
    marks.add('bridge-transfer/r1', ['b', 'c'], REST_MS, () => done.push('b'));
    expect(written).toEqual([]);
    await until('written', () => done.length === 2);
    const waitedMs = performance.now() - addedAtMs;
    expect(written.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
    expect(new Set(written.map(({ turn }) => turn)).size).toBe(1);
    for (const { restMs } of written) {
      expect(restMs).toBeGreaterThanOrEqual(Math.max(0, REST_MS - waitedMs));
      expect(restMs).toBeLessThan(REST_MS);
    }
  });

  it('do not wait if the flow has more to be signalled at once', () => {
    const { marks, written } = marksUnderTest();
    marks.add('bridge-transfer/r1', ['a'], 0, () => undefined);
    expect(written).toMatchObject([{ ids: ['a'], restMs: 0 }]);
  });

  it('are all written when it finishes', async () => {
    const { marks, written } = marksUnderTest();
    const done: string[] = [];
    marks.add('bridge-transfer/r1', ['a'], REST_MS, () => done.push('a'));
    await marks.finish();
    expect(written).toMatchObject([{ ids: ['a'] }]);
    expect(done).toEqual(['a']);
  });

  it('say so if they cannot be written, and continue', async () => {
    const { marks, warnings } = marksUnderTest(() => Promise.reject(new Error('no disk')));
    const done: string[] = [];
    marks.add('bridge-transfer/r1', ['evt_1'], REST_MS, () => done.push('a'));
    await marks.finish();
    expect(done).toEqual([]);
    expect(warnings.join()).toContain('evt_1');
  });
});
