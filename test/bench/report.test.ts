import { describe, expect, it } from '@jest/globals';
import { ratioOf, sideBySide } from '../../bench/measure/rounds.js';
import { median, percentile } from '../../bench/measure/statistics.js';
import { isMet, notMeasured, type Finding } from '../../bench/report/finding.js';
import { tableOf } from '../../bench/report/table.js';
import { runOf, tablesOf } from '../../bench/report/write-results.js';
import { createFrameCounter } from '../../bench/setup/count-calls.js';

const finding = (bound: 'at least' | 'at most', measured: number): Finding => ({
  budget: 'P0',
  what: 'a thing',
  limit: { bound, value: 1.5 },
  unit: '×',
  measured,
  figures: '3/s',
});

describe('the measuring of benchmarks', () => {
  it('runs two sides in turns, and divides their medians', async () => {
    const order: string[] = [];
    const side = (name: string, figures: number[]) => async () => {
      order.push(name);
      return figures.shift() ?? Number.NaN;
    };
    const rounds = await sideBySide({ a: side('a', [30, 900, 20]), b: side('b', [10, 1, 15]) });
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
    expect(ratioOf(rounds, (figure) => figure)).toBe(3);
  });

  it('computes medians and percentiles, and NaN of nothing', () => {
    expect([median([4, 1, 3]), median([4, 1, 3, 2])]).toEqual([3, 2.5]);
    expect(percentile([5, 1, 4, 2, 3], 0.99)).toBe(5);
    expect([median([]), percentile([], 0.5)]).toEqual([Number.NaN, Number.NaN]);
  });

  it('counts calls in the frames of HTTP/2, in whatever pieces they come', () => {
    const frame = (type: number, bytes: number) =>
      Buffer.concat([Buffer.from([0, 0, bytes, type, 0, 0, 0, 0, 1]), Buffer.alloc(bytes, 1)]);
    const stream = Buffer.concat([
      Buffer.alloc(24, 1),
      frame(4, 0),
      frame(1, 30),
      frame(0, 200),
      frame(1, 7),
      frame(6, 8),
    ]);
    for (const pieceBytes of [1, 7, 33, stream.length]) {
      let calls = 0;
      const count = createFrameCounter(() => (calls += 1));
      for (let at = 0; at < stream.length; at += pieceBytes) count(stream.subarray(at, at + pieceBytes));
      expect(calls).toBe(2);
    }
  });
});

describe('the report of benchmarks', () => {
  it('has a row for each budget with met or MISSED, by its bound', () => {
    const findings = [finding('at least', 1.5), finding('at most', 1.51), finding('at most', 1)];
    expect(findings.map(isMet)).toEqual([true, false, true]);
    const cells = tableOf(findings)
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()));
    expect(cells.slice(2).map(([, , , limit, measured, verdict]) => [limit, measured, verdict])).toEqual([
      ['≥ 1.5 ×', '1.50 ×', 'met'],
      ['≤ 1.5 ×', '1.51 ×', 'MISSED'],
      ['≤ 1.5 ×', '1 ×', 'met'],
    ]);
  });

  it('has for each benchmark its machine and date, and a note if the machine was busy', () => {
    const [today, busy] = [runOf([finding('at most', 1)], undefined), runOf([], 'busy-now')];
    const page = tablesOf({ first: { ...today, at: '2026-01-02T03:04:05Z', machine: 'machine-1' }, second: busy });
    const [first, second] = page.split('## second');
    for (const part of ['## first', 'machine-1', '2026-01-02']) expect(first).toContain(part);
    expect(second).toContain('busy-now');
  });

  it('counts what could not be measured as missed', () => {
    const none = [finding('at least', Number.NaN), finding('at most', Number.NaN), notMeasured('P12', 'no Postgres')];
    expect(none.map(isMet)).toEqual([false, false, false]);
  });
});
