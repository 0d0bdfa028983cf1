import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createDeliveredMarks } from '../../src/gateway/dispatch/delivered-marks.js';
import { until } from '../harness/until.js';

/** Marks, with a store that records its calls. */
function marksUnderTest(write: () => Promise<void> = () => Promise.resolve()) {
  const written: { readonly ids: readonly string[]; readonly turn: object }[] = [];
  let turn: object = {};
  const warnings: string[] = [];
  const marks = createDeliveredMarks({
    inbox: {
      markDelivered: (_flowId, ids) => {
        written.push({ ids, turn });
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
  it('are written together, a moment later', async () => {
    const { marks, written } = marksUnderTest();
    const done: string[] = [];
    marks.add('bridge-transfer/r1', ['a'], () => done.push('a'));
    marks.add('bridge-transfer/r2', ['b', 'c'], () => done.push('b'));
    expect(written).toEqual([]);
    await until('written', () => done.length === 2);
    expect(written.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
    expect(new Set(written.map(({ turn }) => turn)).size).toBe(1);
  });

  it('do not wait if something else has come', () => {
    const { marks, written } = marksUnderTest();
    marks.add('bridge-transfer/r1', ['a'], () => undefined);
    marks.flush();
    expect(written).toMatchObject([{ ids: ['a'] }]);
  });

  it('are all written when it finishes', async () => {
    const { marks, written } = marksUnderTest();
    const done: string[] = [];
    marks.add('bridge-transfer/r1', ['a'], () => done.push('a'));
    await marks.finish();
    expect(written).toMatchObject([{ ids: ['a'] }]);
    expect(done).toEqual(['a']);
  });

  it('say so if they cannot be written, and continue', async () => {
    const { marks, warnings } = marksUnderTest(() => Promise.reject(new Error('no disk')));
    const done: string[] = [];
    marks.add('bridge-transfer/r1', ['evt_1'], () => done.push('a'));
    await marks.finish();
    expect(done).toEqual([]);
    expect(warnings.join()).toContain('evt_1');
  });
});
